// What nearly all programs begin with: in front of each, it is the beginning that all of them have precompiled.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>
