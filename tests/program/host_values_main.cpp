// The second unit of host_values.cu.
#include "host_values.h"
int main(int count, char **arguments) {
  App app(atoi(arguments[1]));
  app.run();
  float first;
  cudaMemcpy(&first, app.y, sizeof first, cudaMemcpyDeviceToHost);
  return first > 0;
}
