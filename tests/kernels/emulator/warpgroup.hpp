// Products of a warpgroup, by their text: too many shapes to write each out.
#pragma once
#include <type_traits>

namespace emulator {

// Reads a text from its beginning; after what does not fit, nothing fits.
struct TextReader {
  const char* at;
  bool fits = true;

  constexpr bool skip(const char* expected) {
    const char* place = at;
    for (; *expected; expected++, place++)
      if (*place != *expected) return false;
    at = place;
    return true;
  }
  constexpr void expect(const char* expected) { fits = fits && skip(expected); }
  constexpr int number() {
    int value = 0;
    const char* const start = at;
    for (; *at >= '0' && *at <= '9' && value < 1000; at++) value = 10 * value + (*at - '0');
    fits = fits && at != start && (*start != '0' || at == start + 1);
    return value;
  }
  constexpr void expect_number(int expected) { fits = number() == expected && fits; }
  constexpr void expect_operands(int first, int count) {
    expect("{");
    for (int i = 0; i < count; i++) {
      expect(i ? ",%" : "%");
      expect_number(first + i);
    }
    expect("}");
  }
};

// The shape that a text asks for; n = 0 if any part of it is not as PTX wants it, operand numbers included.
constexpr ProductShape product_shape(const char* text) {
  ProductShape shape;
  TextReader reader{text};
  reader.expect("{ .reg .pred adds; setp.ne.b32 adds,%");
  const int adds = reader.number();
  reader.expect(",0; wgmma.mma_async.sync.aligned.m64n");
  shape.n = reader.number();
  reader.expect("k16.f32.");
  shape.bfloat16 = reader.skip("bf16.bf16 ");
  if (!shape.bfloat16) reader.expect("f16.f16 ");
  int next = shape.n / 2;
  reader.expect_operands(0, next);
  reader.expect(",");
  shape.a_in_registers = *reader.at == '{';
  if (shape.a_in_registers) {
    reader.expect_operands(next, 4);
    next += 4;
  } else {
    reader.expect("%");
    reader.expect_number(next++);
  }
  reader.expect(",%");
  reader.expect_number(next++);
  reader.expect(shape.a_in_registers ? ",adds,1,1,0; }" : ",adds,1,1,0,0; }");
  const bool known = shape.n == 8 || shape.n == 16 || shape.n == 24 || shape.n == 32 || shape.n == 64;
  return reader.fits && !*reader.at && known && adds == next ? shape : ProductShape{};
}

// What the operands' constraints ask for: "f" of an accumulator, "r" of words and the flag, "l" of descriptors
template <class Operand>
constexpr char letter_of() {
  using Value = std::remove_cvref_t<Operand>;
  if (std::is_same_v<Operand, float&>) return 'f';
  if (!std::is_integral_v<Value>) return '?';
  return sizeof(Value) == 4 ? 'r' : sizeof(Value) == 8 ? 'l' : '?';
}

template <class... Operands>
constexpr bool operands_fit(const ProductShape& shape) {
  constexpr char letters[] = {letter_of<Operands>()..., 0};
  TextReader reader{letters};
  for (int i = 0; i < shape.n / 2; i++) reader.expect("f");
  reader.expect(shape.a_in_registers ? "rrrrlr" : "llr");
  return reader.fits && !*reader.at;
}

// Takes operands in their order.
struct OperandReader {
  const ProductShape& shape;
  ProductOperands operands{};
  int next = 0;

  void take(float& accumulator) { operands.accumulators[next++] = &accumulator; }
  void take(unsigned long long value) {
    const int place = next++ - shape.n / 2, words = shape.a_in_registers ? 4 : 0;
    if (place < words) operands.a[place] = static_cast<unsigned>(value);
    else if (!words && place == 0) operands.a_descriptor = value;
    else if (place == (words ? 4 : 1)) operands.b_descriptor = value;
    else operands.adds = value != 0;
  }
};

template <Text TEXT>
  requires(product_shape(TEXT.characters).n != 0)
struct Instruction<TEXT> {
  static constexpr ProductShape shape = product_shape(TEXT.characters);

  template <class... Operands>
  static void run(Operands&&... operands) {
    static_assert(operands_fit<Operands...>(shape), "float accumulators, unsigned words, unsigned long long descriptors, int adds");
    OperandReader reader{shape};
    (reader.take(operands), ...);
    multiply_warpgroup(shape, reader.operands);
  }
};

}  // namespace emulator
