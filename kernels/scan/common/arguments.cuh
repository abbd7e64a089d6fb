// What every scan kernel is given, by value, as its one parameter.
//
// Shapes: B batch, T steps, D channels. Arrays are [B, T, D]; channels lie side by side, batch rows and steps
// as far apart as the strides
// say, in elements. Stored as Tiling::Scalar; states that enter and leave are float32, [B, D]. Where a
// channel is more than a number, its numbers
// lie side by side: a complex a is [B, T, D, 2], a matrix [B, T, D, 2, 2], their h [B, T, D, 2] and the
// states [B, D, 2].
#pragma once

namespace kerneltune {

using Stride = long long;
using Byte = unsigned char;

struct ScanArguments {
  const void* input0;  // what the cell reads of each step, such as a and b
  const void* input1;
  const void* input2;
  const void* input3;
  const void* input4;
  const void* input5;
  const void* hidden;    // backward: h after each step, as the forward pass wrote it
  const void* gradient;  // backward: of the loss by h after each step
  void* output0;         // forward: h after each step; backward: the gradient by input0
  void* output1;         // backward: by input1 …
  void* output2;
  void* output3;
  void* output4;
  void* output5;
  // The state that enters: forward h before the first step, backward the gradient by the last h; null for
  // zeros
  const float* initial;
  const float* first_hidden;  // backward: h before the first step; null for zeros
  // The state that leaves: forward the last h, backward the gradient by h before the first step; may be null
  float* final_state;
  const int* lengths;  // [B]: steps of each row that count; read if Tiling::lengths
  const Byte* resets;  // [B, T]: not 0 where h before the step is dropped; read if Tiling::resets
  // [N + 1]: where the sequences of the one row begin, and T; read if Tiling::sequences. States are then [N,
  // D]
  const int* boundaries;
  // Of cells that are not linear in their state, whose states are [S, B, D] and not [B, D]:
  const float* weights;    // [W, D]; null if there are none, as is weight_gradient
  float* weight_gradient;  // [B, W, D]; backward: by the weights, of each row
  // [ceil(T / 16), S, B, D]: states before every 16th step, from the first; forward null, or they are written
  float* checkpoints;
  int* repaired;  // [4]; may be null: what "overlap" did again (repairs.cuh), zeros by other strategies
  // Bytes as the tiling says, 0 before the first launch; what a launch leaves is for the next
  void* workspace;
  Stride input0_batch;
  Stride input0_step;
  Stride input1_batch;
  Stride input1_step;
  Stride input2_batch;
  Stride input2_step;
  Stride input3_batch;
  Stride input3_step;
  Stride input4_batch;
  Stride input4_step;
  Stride input5_batch;
  Stride input5_step;
  Stride hidden_batch;
  Stride hidden_step;
  Stride gradient_batch;
  Stride gradient_step;
  Stride output0_batch;
  Stride output0_step;
  Stride output1_batch;
  Stride output1_step;
  Stride output2_batch;
  Stride output2_step;
  Stride output3_batch;
  Stride output3_step;
  Stride output4_batch;
  Stride output4_step;
  Stride output5_batch;
  Stride output5_step;
  int steps;      // T
  int batch;      // B
  int channels;   // D
  int sequences;  // N, or 0
};

}  // namespace kerneltune
