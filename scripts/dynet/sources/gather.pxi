# The function that gathers batches, for Python, which DyNet's _dynet.pyx includes.
# nodes-gather.h says why.

cdef extern from "dynet/expr-nodes.h" namespace "dynet":
    CExpression c_gather_batch_elems "dynet::gather_batch_elems" (const vector[CExpression]& args, const vector[unsigned]& which, const vector[unsigned]& elements, unsigned rows) except +

cpdef Expression gather_batch_elems(list xs, vector[unsigned] which, vector[unsigned] elements, unsigned rows=0):
    """A batch of elements of batches

    Args:
        xs (list): Batched expressions, of elements of the same shape
        which (list): For each element, the number of the expression that has it
        elements (list): For each element, its number in the batch of that expression
        rows (int): The number of rows of each vector, from the first; 0 for all

    Returns:
        dynet.Expression: The elements, as a batch
    """
    assert xs, 'List is empty, nothing to gather.'
    cdef vector[CExpression] cvec
    cdef Expression x
    for x in xs:
        ensure_freshness(x)
        cvec.push_back(x.c())
    return Expression.from_cexpr(x.cg_version, c_gather_batch_elems(cvec, which, elements, rows))
