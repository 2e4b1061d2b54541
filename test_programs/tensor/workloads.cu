// The workloads of test_programs/workloads as one definition each, against the host in double precision.
#include "workloads.tc.h"
#include "check.h"

using Numbers = std::vector<double>;

// Rows of `inner` numbers times a matrix of as many rows.
static Numbers product(const Numbers &rows, const Numbers &matrix, int inner)
{
    const size_t columns = matrix.size() / inner, count = rows.size() / inner;
    Numbers out(count * columns);
    for (size_t row = 0; row < count; ++row)
        for (size_t column = 0; column < columns; ++column)
            for (int k = 0; k < inner; ++k)
                out[row * columns + column] += rows[row * inner + k] * matrix[k * columns + column];
    return out;
}

static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

static void translators()
{
    const int S = 10, WORDS = 12, WIDTH = 32, STEPS = 3;
    Tensor<> state(S * WIDTH, 3), words(S * WORDS * WIDTH, 1), keys(S * WORDS * WIDTH, 2), w(WIDTH * WIDTH, 4);
    Tensor<> out(WIDTH * WIDTH, 5), v(WIDTH, 6), result(S * WIDTH);
    auto lengths = Tensor<int>::indices(S, WORDS - 2, 7);
    for (double &length : lengths.host)
        length += 2;
    for (Tensor<> *matrix : {&w, &out}) {
        for (double &value : matrix->host)
            value /= 4;
        matrix->send();
    }
    lengths.send();
    nmt(0, S, state, words, keys, lengths, w, out, v, STEPS, result);
    Numbers expected = state.host;
    for (int step = 0; step < STEPS; ++step) {
        const Numbers query = product(expected, w.host, WIDTH);
        Numbers seen(S * WIDTH);
        for (int s = 0; s < S; ++s) {
            Numbers weights(WORDS);
            double sum = 0;
            for (int i = 0; i < lengths[s]; ++i) {
                for (int t = 0; t < WIDTH; ++t)
                    weights[i] += std::tanh(keys[(s * WORDS + i) * WIDTH + t] + query[s * WIDTH + t]) * v[t];
                sum += weights[i] = std::exp(weights[i]);
            }
            for (int i = 0; i < lengths[s]; ++i)
                for (int t = 0; t < WIDTH; ++t)
                    seen[s * WIDTH + t] += weights[i] / sum * words[(s * WORDS + i) * WIDTH + t];
        }
        expected = product(seen, out.host, WIDTH);
        for (size_t at = 0; at < expected.size(); ++at)
            expected[at] = std::tanh(expected[at] + query[at]);
    }
    result.compare("nmt", [&](size_t at) { return expected[at]; }, 1e-4);
}

static void interests()
{
    const int U = 10, ITEMS = 16, INTERESTS = 4, WIDTH = 32, ROUNDS = 2;
    Tensor<> items(U * ITEMS * WIDTH, 1), shares(U * ITEMS * INTERESTS, 2), result(U * INTERESTS * WIDTH);
    for (double &item : items.host)
        item /= 2;
    items.send();
    multi_interests(0, U, items, shares, ROUNDS, result);
    Numbers expected, logits = shares.host;
    for (int round = 0; round < ROUNDS; ++round) {
        expected.assign(U * INTERESTS * WIDTH, 0);
        for (int t = 0; t < U * ITEMS; ++t) {
            double sum = 0;
            for (int i = 0; i < INTERESTS; ++i)
                sum += std::exp(logits[t * INTERESTS + i]);
            for (int i = 0; i < INTERESTS; ++i)
                for (int k = 0; k < WIDTH; ++k)
                    expected[(t / ITEMS * INTERESTS + i) * WIDTH + k] +=
                        std::exp(logits[t * INTERESTS + i]) / sum * items[t * WIDTH + k];
        }
        for (int row = 0; row < U * INTERESTS; ++row) {
            double norm = 0;
            for (int k = 0; k < WIDTH; ++k)
                norm += expected[row * WIDTH + k] * expected[row * WIDTH + k];
            for (int k = 0; k < WIDTH; ++k)
                expected[row * WIDTH + k] *= norm / (1 + norm) / std::sqrt(norm);
        }
        for (int t = 0; t < U * ITEMS; ++t)
            for (int i = 0; i < INTERESTS; ++i)
                for (int k = 0; k < WIDTH; ++k)
                    logits[t * INTERESTS + i] += expected[(t / ITEMS * INTERESTS + i) * WIDTH + k] * items[t * WIDTH + k];
    }
    result.compare("multi_interests", [&](size_t at) { return expected[at]; }, 1e-4);
}

static void speech()
{
    const int F = 24, BINS = 64, BANDS = 32, LETTERS = 16;
    Tensor<> re(F * BINS, 1), im(F * BINS, 2), filters(BINS * BANDS, 3), w(BANDS * BANDS, 4), bias(BANDS, 5);
    Tensor<> last(BANDS * LETTERS, 6), result(F * LETTERS);
    // Filters take and never give.
    for (double &filter : filters.host)
        filter = filter > 0 ? filter : 0;
    filters.send();
    rokid(0, F, re, im, filters, w, bias, last, result);
    Numbers energy(F * BINS);
    for (int at = 0; at < F * BINS; ++at)
        energy[at] = re[at] * re[at] + im[at] * im[at];
    Numbers bands = product(energy, filters.host, BINS);
    for (int f = 0; f < F; ++f) {
        double *const own = &bands[f * BANDS];
        double mean = 0, spread = 0;
        for (int b = 0; b < BANDS; ++b)
            mean += (own[b] = std::log(own[b] + 1e-3)) / BANDS;
        for (int b = 0; b < BANDS; ++b)
            spread += (own[b] - mean) * (own[b] - mean) / BANDS;
        for (int b = 0; b < BANDS; ++b)
            own[b] = (own[b] - mean) / std::sqrt(spread + 1e-3);
    }
    Numbers y = product(bands, w.host, BANDS);
    for (int at = 0; at < F * BANDS; ++at)
        y[at] = std::fmin(std::fmax(y[at] + bias[at % BANDS], 0), 6);
    Numbers scores = product(y, last.host, BANDS);
    for (int f = 0; f < F; ++f) {
        double total = 0;
        for (int l = 0; l < LETTERS; ++l)
            total += std::exp(scores[f * LETTERS + l]);
        for (int l = 0; l < LETTERS; ++l)
            scores[f * LETTERS + l] -= std::log(total);
    }
    result.compare("rokid", [&](size_t at) { return scores[at]; }, 1e-4);
}

static void writers()
{
    const int T = 12, WIDTH = 32, WORDS = 48, STEPS = 3;
    Tensor<> words(WORDS * WIDTH, 1, 1009), places(STEPS * WIDTH, 2, 997), w(WIDTH * WIDTH, 3, 991), chance(STEPS * T);
    auto first = Tensor<int>::indices(T, WORDS, 1);
    Tensor<int> last(T);
    aiwriter(0, STEPS, T, words, places, w, first, last, chance);
    Numbers chances(STEPS * T), said(T);
    for (int t = 0; t < T; ++t) {
        int word = static_cast<int>(first[t]);
        for (int step = 0; step < STEPS; ++step) {
            Numbers x(WIDTH), normed(WIDTH), all(WORDS);
            double mean = 0, spread = 0, sum = 0;
            for (int k = 0; k < WIDTH; ++k)
                mean += (x[k] = words[word * WIDTH + k] + places[step * WIDTH + k]) / WIDTH;
            for (double value : x)
                spread += (value - mean) * (value - mean) / WIDTH;
            for (int k = 0; k < WIDTH; ++k)
                normed[k] = (x[k] - mean) / std::sqrt(spread + 1e-5);
            const Numbers y = product(normed, w.host, WIDTH);
            for (int k = 0; k < WIDTH; ++k)
                x[k] += 0.5 * y[k] * (1 + std::tanh(0.7978846 * (y[k] + 0.044715 * y[k] * y[k] * y[k])));
            for (int other = word = 0; other < WORDS; ++other) {
                for (int k = 0; k < WIDTH; ++k)
                    all[other] += x[k] * words[other * WIDTH + k] / 0.7;
                if (all[other] > all[word])
                    word = other;
            }
            for (double value : all)
                sum += std::exp(value - all[word]);
            chances[step * T + t] = 1 / sum;
        }
        said[t] = word;
    }
    last.compare("aiwriter says", [&](size_t at) { return said[at]; });
    chance.compare("aiwriter", [&](size_t at) { return chances[at]; }, 1e-4);
}

static void regression()
{
    const int S = 64, FEATURES = 32, STEPS = 3;
    Tensor<> x(S * FEATURES, 1), y(S, 2), first(FEATURES, 3), w(FEATURES), loss(S);
    for (double &label : y.host)
        label = label > 0;
    y.send();
    logistic(0, S, x, y, first, STEPS, w, loss);
    Numbers weights = first.host, speed(FEATURES), losses(S);
    for (int step = 0; step < STEPS; ++step) {
        const Numbers z = product(x.host, weights, FEATURES);
        Numbers slope(FEATURES);
        for (int s = 0; s < S; ++s) {
            const double p = sigmoid(z[s]);
            losses[s] = y[s] ? -std::log(p) : -std::log(1 - p);
            for (int f = 0; f < FEATURES; ++f)
                slope[f] += (p - y[s]) / S * x[s * FEATURES + f];
        }
        for (int f = 0; f < FEATURES; ++f) {
            speed[f] = 0.9 * speed[f] + slope[f] + 0.01 * weights[f];
            weights[f] -= 0.5 * speed[f];
        }
    }
    w.compare("logistic", [&](size_t at) { return weights[at]; }, 1e-4);
    loss.compare("logistic's loss", [&](size_t at) { return losses[at]; }, 1e-4);
}

static void vectors()
{
    const int P = 24, WIDTH = 32, OTHERS = 4, WORDS = P * OTHERS;
    Tensor<> in(WORDS * WIDTH, 1), out(WORDS * WIDTH, 2);
    Tensor<int> centre(P), other(WORDS);
    for (int p = 0; p < P; ++p)
        centre.host[p] = p * 29 % WORDS;
    for (int at = 0; at < WORDS; ++at)
        other.host[at] = (at * 35 + 11) % WORDS;
    centre.send();
    other.send();
    Numbers first = in.host, second = out.host;
    for (int p = 0; p < P; ++p)
        for (int o = 0; o < OTHERS; ++o) {
            const size_t c = centre[p] * WIDTH, n = other[p * OTHERS + o] * WIDTH;
            double sum = 0;
            for (int k = 0; k < WIDTH; ++k)
                sum += in[c + k] * out[n + k];
            const double wrong = sigmoid(sum) - (o == 0);
            for (int k = 0; k < WIDTH; ++k) {
                first[c + k] -= 0.3 * wrong * out[n + k];
                second[n + k] -= 0.3 * wrong * in[c + k];
            }
        }
    word2vec(0, WORDS, WORDS, P, in, out, centre, other);
    in.compare("word2vec's words", [&](size_t at) { return first[at]; }, 1e-4);
    out.compare("word2vec's neighbours", [&](size_t at) { return second[at]; }, 1e-4);
}

static void directions()
{
    const int S = 12, WIDTH = 32, STEPS = 5, CLASSES = 8;
    Tensor<> x(S * STEPS * WIDTH, 1), w(WIDTH * WIDTH, 2), u(WIDTH * WIDTH, 3), bias(WIDTH, 4), last(2 * WIDTH * CLASSES, 5);
    Tensor<> result(S * CLASSES);
    for (Tensor<> *matrix : {&w, &u}) {
        for (double &value : matrix->host)
            value /= 4;
        matrix->send();
    }
    bi_rnn(0, S, STEPS, x, w, u, bias, last, result);
    Numbers states[2] = {Numbers(S * WIDTH), Numbers(S * WIDTH)};
    for (int direction = 0; direction < 2; ++direction)
        for (int step = 0; step < STEPS; ++step) {
            Numbers now(S * WIDTH);
            for (int s = 0; s < S; ++s)
                for (int k = 0; k < WIDTH; ++k)
                    now[s * WIDTH + k] = x[(s * STEPS + (direction ? STEPS - 1 - step : step)) * WIDTH + k];
            const Numbers a = product(now, direction ? u.host : w.host, WIDTH);
            const Numbers b = product(states[direction], direction ? w.host : u.host, WIDTH);
            for (int at = 0; at < S * WIDTH; ++at)
                states[direction][at] = std::tanh(a[at] + b[at] + bias[at % WIDTH]);
        }
    Numbers both(S * 2 * WIDTH);
    for (int at = 0; at < S * 2 * WIDTH; ++at)
        both[at] = states[at / WIDTH % 2][at / WIDTH / 2 * WIDTH + at % WIDTH];
    const Numbers expected = product(both, last.host, 2 * WIDTH);
    result.compare("bi_rnn", [&](size_t at) { return expected[at]; }, 1e-4);
}

static void sentences()
{
    const int S = 16, WIDTH = 32, STEPS = 6;
    Tensor<> x(S * STEPS * WIDTH, 1), w(WIDTH * WIDTH, 2), u(WIDTH * WIDTH, 3), result(S * WIDTH);
    auto lengths = Tensor<int>::indices(S, STEPS, 4);
    for (double &length : lengths.host)
        length += 1;
    lengths.send();
    for (Tensor<> *matrix : {&w, &u}) {
        for (double &value : matrix->host)
            value /= 4;
        matrix->send();
    }
    dyn_rnn(0, S, STEPS, x, lengths, w, u, result);
    Numbers expected(S * WIDTH);
    for (int s = 0; s < S; ++s) {
        Numbers state(WIDTH);
        for (int step = 0; step < lengths[s]; ++step) {
            const Numbers now(&x.host[(s * STEPS + step) * WIDTH], &x.host[(s * STEPS + step + 1) * WIDTH - 1] + 1);
            const Numbers xw = product(now, w.host, WIDTH), xu = product(now, u.host, WIDTH);
            const Numbers hw = product(state, w.host, WIDTH), hu = product(state, u.host, WIDTH);
            for (int t = 0; t < WIDTH; ++t) {
                const double keep = sigmoid(xw[t] + hu[t]);
                state[t] = keep * state[t] + (1 - keep) * std::tanh(xu[t] + hw[t]);
                expected[s * WIDTH + t] += state[t] / lengths[s];
            }
        }
    }
    result.compare("dyn_rnn", [&](size_t at) { return expected[at]; }, 1e-4);
}

static void training()
{
    const int S = 24, IN = 16, HIDDEN = 32, CLASSES = 8;
    Tensor<> x(S * IN, 1), first(IN * HIDDEN, 2), bias(HIDDEN, 3), second(HIDDEN * CLASSES, 4);
    Numbers y = product(x.host, first.host, IN), h = y, one = first.host, two = second.host;
    for (int at = 0; at < S * HIDDEN; ++at)
        h[at] = std::fmax(y[at] += bias[at % HIDDEN], 0);
    Numbers e = product(h, second.host, HIDDEN);
    for (int s = 0; s < S; ++s) {
        double *const own = &e[s * CLASSES];
        double sum = 0;
        for (int c = 0; c < CLASSES; ++c)
            sum += std::exp(own[c]);
        for (int c = 0; c < CLASSES; ++c)
            own[c] = (std::exp(own[c]) / sum - (s % CLASSES == c)) / S;
        for (int t = 0; t < HIDDEN; ++t) {
            double wrong = 0;
            for (int c = 0; c < CLASSES; ++c) {
                wrong += own[c] * second[t * CLASSES + c];
                two[t * CLASSES + c] -= 0.2 * h[s * HIDDEN + t] * own[c];
            }
            for (int k = 0; k < IN && y[s * HIDDEN + t] > 0; ++k)
                one[k * HIDDEN + t] -= 0.2 * x[s * IN + k] * wrong;
        }
    }
    perceptron(0, S, x, first, bias, second);
    first.compare("perceptron's first layer", [&](size_t at) { return one[at]; }, 1e-4);
    second.compare("perceptron's second layer", [&](size_t at) { return two[at]; }, 1e-4);
}

static void encoders()
{
    const int S = 20, WIDTH = 32, LATENT = 8;
    Tensor<> x(S * WIDTH, 1), to_mean(WIDTH * LATENT, 2), to_variance(WIDTH * LATENT, 3), decoder(LATENT * WIDTH, 4);
    Tensor<> noise(S * LATENT, 5), of_output(S), of_draw(S);
    for (Tensor<> *matrix : {&to_mean, &to_variance}) {
        for (double &value : matrix->host)
            value /= 4;
        matrix->send();
    }
    const Numbers mean = product(x.host, to_mean.host, WIDTH), logarithm = product(x.host, to_variance.host, WIDTH);
    Numbers z(S * LATENT), outputs(S), draws(S), first = decoder.host, second = to_mean.host;
    for (int at = 0; at < S * LATENT; ++at) {
        z[at] = mean[at] + std::exp(0.5 * logarithm[at]) * noise[at];
        draws[at / LATENT] += 0.5 * (mean[at] * mean[at] + std::exp(logarithm[at]) - logarithm[at] - 1);
    }
    const Numbers y = product(z, decoder.host, LATENT);
    for (int s = 0; s < S; ++s) {
        Numbers wrong(&mean[s * LATENT], &mean[s * LATENT + LATENT - 1] + 1);
        for (int k = 0; k < WIDTH; ++k) {
            const double p = sigmoid(y[s * WIDTH + k]), far = p - x[s * WIDTH + k], back = far * p * (1 - p);
            outputs[s] += 0.5 * far * far;
            for (int l = 0; l < LATENT; ++l) {
                first[l * WIDTH + k] -= 0.05 * z[s * LATENT + l] * back;
                wrong[l] += back * decoder[l * WIDTH + k];
            }
        }
        for (int k = 0; k < WIDTH; ++k)
            for (int l = 0; l < LATENT; ++l)
                second[k * LATENT + l] -= 0.05 * x[s * WIDTH + k] * wrong[l];
    }
    var_encoder(0, S, x, to_mean, to_variance, decoder, noise, of_output, of_draw);
    of_output.compare("var_encoder's output", [&](size_t at) { return outputs[at]; }, 1e-4);
    of_draw.compare("var_encoder's draw", [&](size_t at) { return draws[at]; }, 1e-4);
    decoder.compare("var_encoder's decoder", [&](size_t at) { return first[at]; }, 1e-4);
    to_mean.compare("var_encoder's means", [&](size_t at) { return second[at]; }, 1e-4);
}

int main()
{
    translators();
    interests();
    speech();
    writers();
    regression();
    vectors();
    directions();
    sentences();
    training();
    encoders();
    return verdict();
}
