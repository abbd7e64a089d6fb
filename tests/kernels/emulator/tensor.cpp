// Tensor-core products, matrix loads and 16-bit formats.
#include <cmath>
#include <cstring>

#include "fibers.hpp"

namespace emulator {

namespace {

float as_float(unsigned bits) {
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

unsigned as_bits(float value) {
  unsigned bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}

}  // namespace

// Tensor cores cut sums off instead of rounding them.
float truncated(double sum) {
  const auto nearest = static_cast<float>(sum);
  return std::fabs(static_cast<double>(nearest)) > std::fabs(sum) ? std::nextafter(nearest, 0.0f) : nearest;
}

float from_bfloat16(unsigned short bits) { return as_float(static_cast<unsigned>(bits) << 16); }

float from_float16(unsigned short bits) {
  const unsigned sign = static_cast<unsigned>(bits >> 15) << 31, exponent = bits >> 10 & 31, fraction = bits & 1023;
  if (exponent == 31) return as_float(sign | 0x7f800000u | fraction << 13);
  if (exponent) return as_float(sign | (exponent + 112) << 23 | fraction << 13);
  const float magnitude = std::ldexp(static_cast<float>(fraction), -24);
  return sign ? -magnitude : magnitude;
}

unsigned short to_bfloat16(float value) {
  if (std::isnan(value)) return 0x7fff;
  const unsigned bits = as_bits(value);
  return static_cast<unsigned short>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

unsigned short to_float16(float value) {
  const unsigned short sign = as_bits(value) >> 31 ? 0x8000 : 0;
  if (std::isnan(value)) return 0x7fff;
  const double magnitude = std::fabs(static_cast<double>(value));
  if (magnitude == 0.0) return sign;
  if (magnitude >= 65520.0) return sign | 0x7c00;
  int exponent;
  std::frexp(magnitude, &exponent);                        // magnitude in [0.5, 1) * 2^exponent
  const int ulp = (exponent < -13 ? -13 : exponent) - 11;  // exponent of the last of 11 bits, or of the smallest number
  const auto units = static_cast<unsigned>(std::nearbyint(std::ldexp(magnitude, -ulp)));
  // units = 1024 … 2048 of a normal number; a carry into the next exponent comes out right by addition
  const unsigned biased = static_cast<unsigned>(ulp + 24);
  return static_cast<unsigned short>(sign | (units + (biased << 10)));
}

unsigned to_tf32(float value) { return std::isfinite(value) ? (as_bits(value) + 0x1000u) & 0xffffe000u : as_bits(value); }

float rounded_to_bits(float value, int mantissa_bits) {
  if (!std::isfinite(value)) return value;
  const unsigned half = 1u << (22 - mantissa_bits), bits = as_bits(value);
  return as_float((bits + half) & ~(2 * half - 1));
}

namespace {

struct Product {
  Element element;
  int k;
  float* c;
  const unsigned* a;
  const unsigned* b;
};

float element_of(Element element, unsigned packed, int half) {
  const auto bits = static_cast<unsigned short>(packed >> 16 * half);
  return element == Element::bfloat16 ? from_bfloat16(bits) : from_float16(bits);
}

void execute_product(void* const (&operands)[32]) {
  const Product& first = *static_cast<Product*>(operands[0]);
  float a[16][16], b[16][8];
  for (int lane = 0; lane < 32; lane++) {
    const Product& own = *static_cast<Product*>(operands[lane]);
    const int row = lane / 4, quad = lane % 4;
    if (first.element == Element::tensor_float32) {
      for (int part = 0; part < 2; part++) {
        a[row][4 * part + quad] = as_float(own.a[2 * part] & 0xffffe000u);
        a[row + 8][4 * part + quad] = as_float(own.a[2 * part + 1] & 0xffffe000u);
        b[4 * part + quad][row] = as_float(own.b[part] & 0xffffe000u);
      }
      continue;
    }
    for (int half = 0; half < 2; half++)
      for (int part = 0; part < first.k / 8; part++) {
        const int k = 8 * part + 2 * quad + half;
        a[row][k] = element_of(first.element, own.a[2 * part], half);
        a[row + 8][k] = element_of(first.element, own.a[2 * part + 1], half);
        b[k][row] = element_of(first.element, own.b[part], half);
      }
  }
  for (int lane = 0; lane < 32; lane++) {
    float* const c = static_cast<Product*>(operands[lane])->c;
    for (int i = 0; i < 4; i++) {
      const int row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
      double sum = c[i];
      for (int k = 0; k < first.k; k++) sum += static_cast<double>(a[row][k]) * b[k][column];
      c[i] = truncated(sum);
    }
  }
}

struct MatrixLoad {
  unsigned* fragments;
  int matrices;
  bool transposed;
  unsigned short row[8];  // what this lane's address points to
};

void execute_load(void* const (&operands)[32]) {
  const MatrixLoad& first = *static_cast<MatrixLoad*>(operands[0]);
  for (int matrix = 0; matrix < first.matrices; matrix++) {
    unsigned short rows[8][8];
    for (int row = 0; row < 8; row++) std::memcpy(rows[row], static_cast<MatrixLoad*>(operands[8 * matrix + row])->row, 16);
    for (int lane = 0; lane < 32; lane++) {
      const int row = lane / 4, column = lane % 4 * 2;
      const unsigned short low = first.transposed ? rows[column][row] : rows[row][column];
      const unsigned short high = first.transposed ? rows[column + 1][row] : rows[row][column + 1];
      static_cast<MatrixLoad*>(operands[lane])->fragments[matrix] = low | static_cast<unsigned>(high) << 16;
    }
  }
}

}  // namespace

void multiply_m16n8(Element element, int k, float* c, const unsigned* a, const unsigned* b) {
  Product own{element, k, c, a, b};
  collective(k == 16 ? "mma m16n8k16" : "mma m16n8k8", &own, execute_product);
}

void load_matrices(unsigned* fragments, int matrices, bool transposed, uint32_t address) {
  MatrixLoad own{fragments, matrices, transposed, {}};
  if (static_cast<int>(current->index.x % 32) < 8 * matrices) std::memcpy(own.row, shared_source(address, 16), 16);
  collective(transposed ? "ldmatrix.trans" : "ldmatrix", &own, execute_load);
}

}  // namespace emulator
