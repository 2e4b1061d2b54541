#pragma once

__global__ void scale(float *values, float factor, int count);
__global__ void shift(float *values, float offset, int count);
