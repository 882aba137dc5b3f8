"""The composition root: stages joined into chains, each skipped while its artefact is up to date.

A stage function takes paths and a configuration, makes one artefact and a manifest beside it, and
is what the command of the same name calls. With the command line, the only modules that join
packages:

- ``corpus``      PubMed's files -> corpus -> index
- ``generation``  questions -> pseudo-documents
- ``synthetic``   training questions or documents -> synthetic training pairs
- ``retrieval``   documents -> index; index and questions -> run -> submission
- ``rerank``      run, questions and index -> run, by models that score; ``listwise``, by a language
  model that orders
- ``training_data``  golden files, synthetic pairs, pseudo-documents -> training data
- ``evaluation``  run and gold -> scores
- ``chain``       documents to scores, from one configuration

What stages share stands in modules of its own: ``asking`` (asking models, and files that hold what
could be had), ``planning`` (estimates and batch files in place of asking), ``progress``,
``processes`` (several of them sharing a stage).
"""
