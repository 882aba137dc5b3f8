"""Our side of ``pubmed_parse.py``: ``pubmed_parse_ours.py FILE [shared]``.

With ``shared`` nothing is asked for the fields that pubmed_parser does not give: version, NLM's
section categories, other abstracts, relations, days of entry and revision. Reads the whole file
once to warm the caches, then prints the processor seconds that reading it
again took, how many citations it holds, and this process's peak memory in MB.
"""

import sys
import time
from pathlib import Path

from peak import peak_mb

from hybrid_ir.pubmed.medline import citations, read_citations
from hybrid_ir.pubmed.medline.xml import query

if sys.argv[2:] == ["shared"]:
    nothing = dict.fromkeys(("version", "year_revised", "month_revised", "day_revised"), "''")
    nothing |= dict.fromkeys(("month_entered", "day_entered"), "''")
    nothing |= {"other_abstracts": "'0'", "relations": "'0'", "year_entered": "'2000'"}
    citations._ASK_ARTICLE = query(*citations._ARTICLE_PATHS._replace(**nothing))
    citations._PART = query(".", "@Label", "''")

faults: list[object] = []


def read() -> tuple[float, int]:
    """Read the file; give the processor seconds it took, and its citations."""
    start = time.process_time()
    count = sum(1 for _ in read_citations(Path(sys.argv[1]), faults.append))
    return time.process_time() - start, count


read()
seconds, count = min(read() for _ in range(3))
print(seconds)
print(count)
print(peak_mb())
assert not faults, faults
