// test: launch
//
// Buffers by name in a map, and a label in a string. What the library does with its nodes and texts
// is known, so that neither is a fence and no pointer of theirs is taken for a kernel's argument.
#include <map>
#include <string>

__global__ void twice(float *data) { data[threadIdx.x] *= 2.0f; }

int main(int count, char **words) {
    std::map<std::string, float *> buffers;
    cudaMalloc(&buffers["a"], 64);
    cudaMalloc(&buffers["b"], 64);
    float *a = buffers["a"];
    twice<<<1, 16>>>(a);
    std::string label = words[0];
    label += std::to_string(count);
    label = label + "!";
    twice<<<1, 16>>>(buffers["b"]);
    twice<<<1, 16>>>(a);
    cudaFree(a);
    cudaFree(buffers["b"]);
    return label.size() > 3;
}

//> buffer b0 buffer0 Device bytes=64 unique
//> buffer b1 buffer1 Device bytes=64 unique
//> value v0 = 1 from L0.grid0
//> value v1 = 16 from L0.block0
//> value v2 = 0 from L0.shared
//> value v3 from L0.argument0+0:s64
//> value v4 from L1.argument0+0:s64
//> value v5
//> function main
//> block0 -> block1 block65
//> block1 -> block2 block63
//> block2 -> block4 block3
//>   n0 allocation b0 @12
//> block3 -> block4
//> block4 -> block5 block61
//> block5 -> block6 block59
//> block6 -> block8 block7
//>   n1 allocation b1 @13
//> block7 -> block8
//> block8 -> block9 block57
//> block9 -> block10 block55
//> block10 -> block12 block11
//> block11 -> block12
//> block12 -> block13 block16
//>   n2 launch L0 kernel0 <<<(v0,v0,v0),(v1,v0,v0),v2,stream=default>>>(v3=*v3{b0,b1}) @15
//> block13 -> block14 block15
//> block14 -> 
//> block15 -> block54
//> block16 -> block17 block53
//> block17 -> block18 block20
//> block18 -> block19 block48
//> block19 -> 
//> block20 -> block21 block48
//> block21 -> block23 block22
//> block22 -> block23
//> block23 -> block24 block47
//> block24 -> block26 block25
//> block25 -> block26
//> block26 -> block27 block45
//> block27 -> block28 block43
//> block28 -> block30 block29
//>   n3 launch L1 kernel0 <<<(v0,v0,v0),(v1,v0,v0),v2,stream=default>>>(v4=*v4{b0,b1}) @19
//> block29 -> block30
//> block30 -> block31 block41
//>   n4 launch L2 kernel0 <<<(v0,v0,v0),(v1,v0,v0),v2,stream=default>>>(v3=*v3{b0,b1}) @20
//>   n5 free *v3{b0,b1} @21
//> block31 -> block32 block39
//> block32 -> block34 block33
//>   n6 free *v5{b0,b1} @22
//> block33 -> block34
//> block34 -> block36 block35
//> block35 -> block36
//> block36 -> block37 block38
//> block37 -> 
//> block38 -> 
//> block39 -> block42 block40
//> block40 -> block42
//> block41 -> block42
//> block42 -> block51
//> block43 -> block46 block44
//> block44 -> block46
//> block45 -> block46
//> block46 -> block51
//> block47 -> block51
//> block48 -> block50 block49
//> block49 -> block50
//> block50 -> block51
//> block51 -> block54 block52
//> block52 -> block54
//> block53 -> block54
//> block54 -> block67
//> block55 -> block58 block56
//> block56 -> block58
//> block57 -> block58
//> block58 -> block67
//> block59 -> block62 block60
//> block60 -> block62
//> block61 -> block62
//> block62 -> block67
//> block63 -> block66 block64
//> block64 -> block66
//> block65 -> block66
//> block66 -> block67
//> block67 -> block68 block69
//> block68 -> 
//> block69 -> 
