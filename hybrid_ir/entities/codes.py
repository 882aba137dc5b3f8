"""Codes of chemicals in development: capitals with a number (``CB 3717``, ``LY274614``).

Much else is written so: entries of databases, trials, cell lines, genes, tables, measures. The stop
list was made by looking at what the rule finds in 39,357 PubMed abstracts, most frequent first.
"""

from __future__ import annotations

import re

from hybrid_ir.entities.matching import Match, Named

CHEMICAL: Named = ("CHEMICAL", None)

_WORDS = "AND|AT|BY|FOR|FROM|HAD|IN|IS|MG|NO|OF|ON|OR|THE|TO|WAS|WITH"
_PARTS = (
    "AGE|APP|ARM|BOX|CASE|CLASS|DAY|DOSE|EQ|FIG|FIGS|FILE|GRADE|GROUP|ITEM|LEVEL|LINE|MODEL|NOTE"
    "|PAGE|PART|PHASE|REF|ROOM|STAGE|STEP|TABLE|TYPE|VOL|WEEK|YEAR"
)
_DATABASES = (
    "AY|CAS|CHEBI|CID|CPT|CRAN|DB|DDBJ|DOI|DRR|DRX|DUF|EC|EGA|EGAD|EGAS|EMBL|ERP|ERR|ERX|GDS|GEO"
    "|GSE|GSM|HGNC|HMDB|HTTP|ICD|ICDO|ISBN|ISSN|KEGG|LOINC|MESH|MGC|MIM|NM|NP|OMIM|ORCID|ORPHA"
    "|PDB|PMC|PMCID|PMID|RRID|SRR|SRS|SRX|UMLS|XM|XP"
)
_STRAINS_AND_CELLS = (
    "ATCC|BT|CBS|CRL|DSM|DSMZ|DU|HCCC|HCT|HEK|HOC|JCM|LN|LS|MB|MDA|NA|NBRC|NCIMB|NCTC|NRRL|PCC"
    "|RAW|RPMI|SGC|SNU|SW|USA|WEHI|YAC"
)
_GENES = (
    "AC|BRAFV|CD|CYP|DFNB|DXS|EGFR|KDRCD|KIAA|LINC|LNC|LOC|MEK|MHC|MIR|MIRN|NUP|ORF|RIM|RNF"
    "|SNORA|SNORD|SUZ|TAFI|TMEM|VEGF|ZNF"
)
_TRIALS = (
    "AALL|ABCSG|ACTRN|ANBL|AREN|CALGB|CHICT|CTRI|DRKS|ECOG|EORTC|GOG|HVTN|IRCT|ISRCTN|JCOG|MTN|NCI"
    "|NCT|NSABP|OGSG|PACTR|RTOG|SARC|SWOG|UMIN|VRC"
)
_BODIES = (
    "ANSI|ASTM|CDC|CE|DIN|EEC|EMA|EPA|EU|FDA|GCP|GLP|GMP|ICH|IEC|IEEE|ISO|NHS|NICE|NIH|UK|UN|US"
    "|USP|WHO"
)
_MEASURES = (
    "AUC|BMI|BP|CAD|CDAI|CFU|CI|DBP|EUR|FEV|GBP|GFR|HDL|HR|HZ|IQ|KDA|LD|LDL|MALDI|MHZ|MW|NIHSS|NMR"
    "|OD|PASI|PH|PPB|PPM|PSA|RBC|RMB|RPM|SBP|SPAN|USD|UV|VAS|WBC"
)
_TREATMENTS = "CVD|FEC|FTC|RIT|TDF"
"""Vaccines and known drugs with a dose."""
_NO_CODES = frozenset(
    "|".join(
        (
            _WORDS, _PARTS, _DATABASES, _STRAINS_AND_CELLS, _GENES, _TRIALS, _BODIES, _MEASURES,
            _TREATMENTS,
        )
    ).split("|")
)  # fmt: skip
_LETTERS = re.compile(r"([A-Z]{2,5})([0-9]{3,7})?\Z")
_NUMBER = re.compile(r"(?!(?:19|20)\d\d\Z)[0-9]{3,7}\Z")


def find_codes(forms: list[str], spans: list[tuple[int, int]]) -> dict[int, Match]:
    """Find the codes among tokens, by position; a year is no part of one.

    Args:
        forms: The tokens' forms.
        spans: Where they stand in the text: a dash or one blank may part letters and number.
    """
    codes: dict[int, Match] = {}
    for position, form in enumerate(forms):
        if form.isupper() and (letters := _LETTERS.match(form)) and letters[1] not in _NO_CODES:
            following = position + 1
            if letters[2]:
                codes[position] = (following, CHEMICAL)
            elif (
                following < len(forms)
                and _NUMBER.match(forms[following])
                and spans[following][0] - spans[position][1] == 1
            ):
                codes[position] = (following + 1, CHEMICAL)
    return codes
