# Arrays pass between numpy and DyNet by one copy or none; DyNet's _dynet.pyx includes this file.
# Why: they passed through Python lists of floats. Views let replicas exchange gradients in place.
# Test: tests/rnng_dy/test_dynet.py::test_views_share_memory_and_touched_rows_are_updated

from libc.string cimport memcpy

cdef extern from "Python.h":
    object PyMemoryView_FromMemory(char *memory, Py_ssize_t size, int flags)
    # the value of the constant, whose name the stable ABI of Python 3.10 lacks
    int PyBUF_WRITE "0x200"

cdef c_tensor_view(CTensor &t):
    # the memory of the tensor itself: writing to the array writes to the tensor
    if t.device.name != b"CPU":
        raise ValueError("only tensors on the CPU can be viewed as numpy arrays")
    memory = PyMemoryView_FromMemory(<char*>t.v, <Py_ssize_t>t.d.size() * sizeof(float), PyBUF_WRITE)
    return np.frombuffer(memory, np.float32).reshape(c_dim_as_shape(t.d), order='F')

cdef vector[float] c_np_as_vector(arr):
    # column by column
    cdef bytes copied = np.asarray(arr, np.float32).tobytes(order='F')
    cdef vector[float] values
    values.resize(len(copied) // sizeof(float))
    memcpy(<void*>values.data(), <const char*>copied, len(copied))
    return values
