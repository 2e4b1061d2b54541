#include "square.h"
#include <iostream>

int main() {
  int wrong = square(500);
  std::cout << wrong << " wrong\n";
  return wrong != 0;
}
