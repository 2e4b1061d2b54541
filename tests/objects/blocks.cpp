#include "chain.h"

int blocks_for(int n) { return (n + 127) / 128; }
