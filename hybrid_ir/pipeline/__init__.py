"""The composition root: stages joined into chains, each skipped while its artefact is up to date.

A stage function takes paths and a configuration, makes one artefact and a manifest beside it, and
is what the command of the same name calls. With the command line, the only modules that join
packages:

- ``corpus``      PubMed's files -> corpus -> index
- ``generation``  questions -> pseudo-documents, synthetic pairs
- ``retrieval``   documents -> index; index and questions -> run -> submission
- ``evaluation``  run and gold -> scores
- ``chain``       all of them, from one configuration
"""
