// What the parts of the program give each other.
#pragma once
void scale(float *out, const float *in, float factor, int n);
void shift(float *out, const float *in, float by, int n);
void square(float *out, const float *in, int n);
int blocks_for(int n);
