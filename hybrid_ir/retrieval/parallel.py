"""Searching with several threads that live in Java.

pyjnius keeps the object a method is called on in the method itself, shared by all threads, so two
Python threads that call Java at the same time call each other's objects (its issues 287 and 563).
Therefore Python calls Java from one thread at a time, under :data:`~hybrid_ir.retrieval.jvm.lock`,
and the searches run side by side in a Java thread pool: a method handle, bound to a query, is the
task.
"""

from __future__ import annotations

from functools import cached_property
from typing import TypeAlias

from hybrid_ir.retrieval.jvm import JavaObject, java_class, lock

Found: TypeAlias = JavaObject
"""A Java future: ``get()`` waits and gives the result as JSON, or raises what the search raised."""


class SearchPool:
    """A thread pool for one Lucene searcher."""

    def __init__(self, searcher: JavaObject, threads: int) -> None:
        self._handle = _search_to_json(searcher)
        self._sized: dict[int, JavaObject] = {}
        self._pool = java_class("java.util.concurrent.Executors").newFixedThreadPool(threads)

    def submit(self, query: JavaObject, size: int) -> Found:
        """Start a search for the best ``size`` hits."""
        from jnius import cast

        handles = java_class("java.lang.invoke.MethodHandles")
        if size not in self._sized:
            number = java_class("java.lang.Integer")(size)
            self._sized[size] = handles.insertArguments(self._handle, 1, number)
        proxies = java_class("java.lang.invoke.MethodHandleProxies")
        call = proxies.asInterfaceInstance(self._callable, self._sized[size].bindTo(query))
        task = java_class("java.util.concurrent.FutureTask")(cast(self._callable_name, call))
        self._pool.execute(task)
        return task

    def close(self) -> None:
        """Stop the threads; searches that have not begun never will."""
        with lock:
            self._pool.shutdownNow()

    _callable_name = "java.util.concurrent.Callable"

    @cached_property
    def _callable(self) -> JavaObject:
        return _class_of(self._callable_name)


def _search_to_json(searcher: JavaObject) -> JavaObject:
    """Give a handle for ``(query, size) -> JSON``: IndexSearcher.search, then Jackson."""
    types = java_class("java.lang.invoke.MethodType")
    handles = java_class("java.lang.invoke.MethodHandles")
    lucene = "org.apache.lucene.search."
    hits, text = _class_of(f"{lucene}TopDocs"), _class_of("java.lang.String")
    jackson = "com.fasterxml.jackson.databind.ObjectMapper"
    takes = types.methodType(
        hits, _class_of(f"{lucene}Query"), java_class("java.lang.Integer").TYPE
    )
    writes = types.methodType(text, _class_of("java.lang.Object"))
    public = handles.publicLookup()
    search = public.findVirtual(_class_of(f"{lucene}IndexSearcher"), "search", takes)
    write = public.findVirtual(_class_of(jackson), "writeValueAsString", writes)
    write = write.bindTo(java_class(jackson)()).asType(types.methodType(text, hits))
    return handles.filterReturnValue(search.bindTo(searcher), write)


def _class_of(name: str) -> JavaObject:
    return java_class("java.lang.Class").forName(name)
