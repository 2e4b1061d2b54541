// Arrays of structs of which launches touch different fields: they run as one and share the lines, as long as
// indices do not wrap around, which is what tells fields of different elements apart.
//
// expect: 11 launches -> 8
// executes: 8 8 10
// arguments:
// arguments: 4294967260
// arguments: 2147483600
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Body {
    float x, y, vx, vy, mass;
    int id;
};

__global__ void number(Body *bodies, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) bodies[i] = {1.0f * i, 2.0f * i, 3.0f, 1.0f + i % 7, 1.0f + i % 5, i};
}

// Elements are counted from `first` on, past the largest number as well.
__global__ void drift(Body *bodies, unsigned n, unsigned first, float time) {
    const unsigned i = first + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        bodies[i].x += bodies[i].vx * time;
        bodies[i].y += bodies[i].vy * time;
    }
}

__global__ void energy(const Body *bodies, float *energies, unsigned n, unsigned first) {
    const unsigned i = first + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const Body &body = bodies[i];
        energies[i] = 0.5f * body.mass * (body.vx * body.vx + body.vy * body.vy);
    }
}

// Every thread reads the places of all.
__global__ void pull(const Body *bodies, float *forces, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float force = 0;
    for (int other = 0; other < n; other++) force += bodies[other].x - bodies[other].y;
    if (i < n) forces[i] = force;
}

__global__ void kick(Body *bodies, const float *forces, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) bodies[i].vx += 0.25f * forces[i];
}

// The next element's field, which another thread writes.
__global__ void follow(Body *bodies, float *gaps, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + 1 < n) gaps[i] = bodies[i + 1].x - bodies[i].y;
}

__global__ void shift(Body *bodies, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) bodies[i].x += bodies[i].mass;
}

// Elements counted in halves of bodies, so that a field of one is another field of the next.
struct Half {
    float a, b, c;
};

__global__ void halves(Half *half, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) half[i].b = 2 * half[i].a;
}

__global__ void weigh(const Body *bodies, float *masses, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) masses[i] = bodies[i].mass + bodies[i].y;
}

constexpr int n = 200, grid = (n + 63) / 64;
int failures = 0;

// What the device has, against what the host works out; all of it is exact.
void check(const char *name, const Body *bodies, const float *results, const std::vector<Body> &expected,
           const std::vector<float> &expected_results) {
    std::vector<float> found_results(n);
    std::vector<Body> found(n);
    cudaMemcpy(found_results.data(), results, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(found.data(), bodies, n * sizeof(Body), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) {
        const Body &a = found[i], &b = expected[i];
        const bool same = a.x == b.x && a.y == b.y && a.vx == b.vx && a.vy == b.vy && a.mass == b.mass && a.id == b.id;
        if (!same || found_results[i] != expected_results[i]) {
            printf("%s: body %d is %g %g %g %g, result %g, not %g %g %g %g, %g\n", name, i, a.x, a.y, a.vx, a.vy,
                   found_results[i], b.x, b.y, b.vx, b.vy, expected_results[i]);
            failures++;
            return;
        }
    }
}

int main(int count, char **arguments) {
    const unsigned first = count > 1 ? strtoul(arguments[1], nullptr, 10) : 0;
    Body *bodies;
    float *results;
    cudaMalloc(&bodies, n * sizeof *bodies);
    cudaMalloc(&results, n * sizeof *results);
    cudaMemset(results, 0, n * sizeof *results);
    std::vector<Body> all(n);
    std::vector<float> out(n);
    for (int i = 0; i < n; i++) all[i] = {1.0f * i, 2.0f * i, 3.0f, 1.0f + i % 7, 1.0f + i % 5, i};
    number<<<grid, 64>>>(bodies, n);
    check("numbered", bodies, results, all, out);

    const auto drifted = [&](float time) {
        for (unsigned thread = 0; thread < grid * 64; thread++)
            if (const unsigned i = first + thread; i < n) {
                all[i].x += all[i].vx * time;
                all[i].y += all[i].vy * time;
            }
    };
    const auto weighed = [&] {
        for (unsigned thread = 0; thread < grid * 64; thread++)
            if (const unsigned i = first + thread; i < n)
                out[i] = 0.5f * all[i].mass * (all[i].vx * all[i].vx + all[i].vy * all[i].vy);
    };
    // Other fields of the same element.
    drift<<<grid, 64>>>(bodies, n, first, 0.5f);
    energy<<<grid, 64>>>(bodies, results, n, first);
    drifted(0.5f);
    weighed();
    check("drift, energy", bodies, results, all, out);

    // The same, the reader first.
    energy<<<grid, 64>>>(bodies, results, n, first);
    drift<<<grid, 64>>>(bodies, n, first, 0.25f);
    drifted(0.25f);
    check("energy, drift", bodies, results, all, out);

    // Other fields of all elements.
    pull<<<grid, 64>>>(bodies, results, n);
    kick<<<grid, 64>>>(bodies, results, n);
    float force = 0;
    for (const Body &body : all) force += body.x - body.y;
    for (int i = 0; i < n; i++) {
        out[i] = force;
        all[i].vx += 0.25f * force;
    }
    check("pull, kick", bodies, results, all, out);

    // One field of the next element.
    shift<<<grid, 64>>>(bodies, n);
    follow<<<grid, 64>>>(bodies, results, n);
    for (Body &body : all) body.x += body.mass;
    for (int i = 0; i + 1 < n; i++) out[i] = all[i + 1].x - all[i].y;
    check("shift, follow", bodies, results, all, out);

    // Structs of different sizes.
    halves<<<2 * grid, 64>>>((Half *)bodies, 2 * n);
    weigh<<<2 * grid, 64>>>(bodies, results, n);
    for (int i = 0; i < n; i++) {
        all[i].y = 2 * all[i].x;
        all[i].mass = 2 * all[i].vy;
        out[i] = all[i].mass + all[i].y;
    }
    check("halves, weigh", bodies, results, all, out);
    if (failures == 0) printf("PASS\n");
    return failures != 0;
}
