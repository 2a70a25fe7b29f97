# Whether products are of bfloat16 numbers, for Python; DyNet's _dynet.pyx includes it, and bfloat16.h says why.

cdef extern from "dynet/bfloat16.h" namespace "dynet::bfloat16":
    bint c_is_bfloat16_possible "dynet::bfloat16::is_possible"()
    bint c_is_bfloat16_wanted "dynet::bfloat16::is_wanted"

def has_bfloat16():
    """Return whether this processor multiplies bfloat16 numbers, and the build of DyNet has what it takes."""
    return c_is_bfloat16_possible()

def multiply_bfloat16(bint wanted):
    """Let products on the CPU be of bfloat16 numbers, with float32 sums, or of float32 numbers.

    Products with a left side whose number of rows is no multiple of 16 are always of float32 numbers. Graphs that are
    there already must not be used any more.

    Raises:
        ValueError: if the processor or the build cannot do it
    """
    global c_is_bfloat16_wanted
    if wanted and not has_bfloat16():
        raise ValueError("this processor does not multiply bfloat16 numbers (AVX512_BF16)")
    c_is_bfloat16_wanted = wanted
