"""The core: records, files, corpus, retrieval, measures, pipeline and command line."""
