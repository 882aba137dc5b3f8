"""pubmed_parser's side of ``pubmed_parse.py``: ``pubmed_parse_theirs.py FILE [shared]``.

With ``shared`` the work for fields that our citations do not have is taken out of pubmed_parser:
authors, affiliations, references, chemicals, keywords, DOI, grants, further ids, and the journal's
codes. Reads the whole file once to warm the caches, then prints the processor
seconds that reading it again took, how many citations it holds, and this process's peak memory in
MB.
"""

import sys
import time

import pubmed_parser.medline_parser as parser
from peak import peak_mb

if sys.argv[2:] == ["shared"]:
    for name, nothing in {
        "parse_author_affiliation": [],
        "parse_references": "",
        "parse_chemical_list": "",
        "parse_keywords": "",
        "parse_doi": "",
        "parse_grant_id": [],
        "parse_other_id": {},
        "parse_journal_info": {},
    }.items():
        assert hasattr(parser, name), name
        setattr(parser, name, lambda *_, nothing=nothing: nothing)


def read() -> tuple[float, int]:
    """Read the file; give the processor seconds it took, and its citations."""
    start = time.process_time()
    articles = parser.parse_medline_xml(sys.argv[1], parse_downto_mesh_subterms=True)
    count = sum(1 for _ in articles)
    return time.process_time() - start, count


read()
seconds, count = min(read() for _ in range(3))
print(seconds)
print(count)
print(peak_mb())
