# The class of coupled LSTMs for Python, which DyNet's _dynet.pyx includes.
# nodes-coupled-lstm.h says why.

cdef extern from "dynet/expr-nodes.h" namespace "dynet":
    CExpression c_coupled_lstm_weights "dynet::coupled_lstm_weights" (const vector[CExpression]& args) except +
    CExpression c_coupled_lstm_step "dynet::coupled_lstm_step" (const vector[CExpression]& args, float p) except +
    CExpression c_coupled_lstm_forest "dynet::coupled_lstm_forest" (const vector[CExpression]& args, const vector[int]& parents, const vector[unsigned]& level_ends, float p) except +
    CExpression c_coupled_lstm_search "dynet::coupled_lstm_search" (const vector[CExpression]& args, const vector[int]& reads, const vector[int]& parents, const vector[unsigned]& level_ends) except +

_has_derivatives = True

def has_derivatives():
    """Whether the current graph has derivatives; without, `CoupledLSTMCell.search` is faster."""
    return _has_derivatives

cdef class CoupledLSTMCell:
    """One layer of CoupledLSTMBuilder, a step of which is one node of the graph.

    A state is the vector [h; c]. If x is a state, the cell reads its h.

    Args:
        parameters (list): x2i h2i c2i bi x2o h2o c2o bo x2c h2c bc
    """
    cdef list parameters
    cdef Expression weights
    def __cinit__(self, list parameters):
        assert len(parameters) == 11, "CoupledLSTMCell has 11 parameters"
        self.parameters = parameters

    cpdef Expression step(self, Expression x, Expression state=None, float dropout=0.0):
        """The state after reading x; `state` is the state before, None at the start."""
        cdef vector[CExpression] args = self.arguments(x)
        if state is not None:
            ensure_freshness(state)
            args.push_back(state.c())
        return Expression.from_cexpr(x.cg_version, c_coupled_lstm_step(args, dropout))

    cpdef Expression forest(self, Expression x, vector[int] parents, vector[unsigned] level_ends, float dropout=0.0,
                            Expression state=None):
        """All states of sequences and trees that are known in advance, one batch element each.

        State k continues state parents[k], which is -1 in the first level; level_ends has the end
        of each level. `state` has an element for each state of the first level: the state before
        it. Without `state`, the first level is the start.
        """
        cdef vector[CExpression] args = self.arguments(x)
        if state is not None:
            ensure_freshness(state)
            args.push_back(state.c())
        return Expression.from_cexpr(x.cg_version, c_coupled_lstm_forest(args, parents, level_ends, dropout))

    cpdef Expression search(self, Expression x, vector[int] reads, vector[int] parents, vector[unsigned] level_ends,
                            Expression state=None):
        """The states of a forest, on the CPU and without derivatives.

        State k reads element reads[k] of x. In the first level, it continues element parents[k] of
        `state`. The cell multiplies each vector once, even if several states read or continue it.
        """
        cdef vector[CExpression] args = self.arguments(x)
        if state is not None:
            ensure_freshness(state)
            args.push_back(state.c())
        return Expression.from_cexpr(x.cg_version, c_coupled_lstm_search(args, reads, parents, level_ends))

    cdef vector[CExpression] arguments(self, Expression x) except *:
        """The weights in the current graph, and x."""
        cdef vector[CExpression] args
        cdef Expression e
        ensure_freshness(x)
        if self.weights is None or self.weights.cg_version != _cg._cg_version:
            for parameter in self.parameters:
                e = parameter.expr(update=True)
                args.push_back(e.c())
            self.weights = Expression.from_cexpr(_cg._cg_version, c_coupled_lstm_weights(args))
            args.clear()
        args.push_back(self.weights.c())
        args.push_back(x.c())
        return args
