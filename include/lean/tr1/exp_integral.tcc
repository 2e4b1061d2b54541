#if _GLIBCXX_USE_STD_SPEC_FUNCS
#include <sirius_special_functions.h>
#else
#include_next <tr1/exp_integral.tcc>
#endif
