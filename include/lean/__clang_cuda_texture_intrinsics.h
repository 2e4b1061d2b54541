/* In place of clang's header of this name, a third of what it reads of headers, for sources that fetch from no texture
 * and no surface. Of one that does, the code calls `sirius_lean_header_lacks`: it is compiled without this folder
 * then (src/program/lean_headers.rs). */
#ifndef SIRIUS_LEAN_TEXTURE_INTRINSICS_H
#define SIRIUS_LEAN_TEXTURE_INTRINSICS_H

#define __nv_tex_surf_handler(__op, __ptr, ...) ::__cuda_tex::__tex_fetch(__ptr, __VA_ARGS__)

extern "C" __device__ void sirius_lean_header_lacks();

namespace {
namespace __cuda_tex {
template <class... __Args> __device__ static void __tex_fetch(__Args...) { sirius_lean_header_lacks(); }
} // namespace __cuda_tex
} // namespace

#endif
