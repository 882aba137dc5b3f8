"""Everything that talks to a language model.

- ``llm``               what a model is here: requests, replies, settings; one protocol
- ``clients/``          a client for each provider, which turns a request into a reply
- ``asking/``           asking many things: concurrency, limits, retries, batch files, counts
- ``cache/``            the file that keeps replies and the account of calls
- ``budget``            what calls may cost, and do
- ``structured``        replies in JSON, and asking again
- ``prompts``           every prompt; ``examples`` for them from earlier batches
- ``texts/``            what is wrong with a text: refusals and wrappings, copies, limits
- ``pseudo_documents``  the requests for pseudo-documents; ``quality`` weighs what comes (by
  ``lexical`` and ``embedding`` vectors)
- ``synthetic``         the requests for training pairs, and the pairs
- ``listwise``          the requests for orders of passages; ``orders`` reads and mends them
"""
