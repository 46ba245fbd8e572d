// Package train computes gradients of LoRA adapters on the forward pass that serves, and
// steps them. The base is frozen; an adapter under training is f32 masters in the
// optimizer and, for every forward pass, the same rounded bytes that are exported and
// served. So the log probability of a token is the same number, bit for bit, whether it
// was sampled, scored or trained on.
//
// Axis letters as in package model: n positions of a sequence, d width, r rank, v
// vocabulary; k targets at a position.
package train
