"""Re-ranking: scoring the documents of a run anew. Only inference; training is in ``training``.

- ``candidates``     what every scorer takes and gives; ``settings`` of all
- ``scorers``        from settings to a scorer, with the ``cache`` of scores before it
- ``cascade``        stage after stage, ensembles, cut-offs; ``normalisation`` of scores
- ``cross_encoder``  question and passage together: a ``classifier`` reads ``pairs``
- ``bi_encoder``     vectors of questions and passages: an ``encoder`` makes ``vectors``
- ``mono_t5``, ``duo_t5``  on ``t5``
- ``bm25``           over the candidates alone

Shared by the models: ``models`` (where they lie, which they are), ``loading``, ``precision``,
``batches`` by length, ``windows`` of long documents, ``lengths`` (what was cut), ``pools``,
``ahead`` and ``workers`` (tokenizing and computing at the same time).
"""
