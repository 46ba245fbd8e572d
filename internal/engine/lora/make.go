package lora

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"

	"macaron/internal/disk"
	"macaron/internal/engine/weights/safetensors"
	"macaron/internal/errs"
)

// Config is what of adapter_config.json an adapter that is made here has.
type Config struct {
	Rank    int
	Alpha   float64
	RsLoRA  bool
	Targets []string // names of TargetNames
}

// Make makes an adapter of a base from tensors in memory that are named, and laid out, as
// in a PEFT file. What it computes and how it is called are those of that file.
func Make(made Config, tensors []safetensors.Tensor, base Shape) (*Adapter, error) {
	raw, err := made.json(base)
	if err != nil {
		return nil, err
	}
	c, err := parseConfig(raw)
	if err != nil {
		return nil, err
	}
	all, err := collect(c, tensors, base.Base)
	if err != nil {
		return nil, err
	}
	return all.load(base)
}

// Write writes the adapter that Make gives as a PEFT directory, which it creates.
func Write(dir string, made Config, tensors []safetensors.Tensor, base Shape) error {
	raw, err := made.json(base)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return disk.Error(err, dir+" cannot be made")
	}
	meta := map[string]string{"format": "pt"}
	if base.Base != "" {
		meta["base"] = string(base.Base)
	}
	if err := safetensors.Write(filepath.Join(dir, "adapter_model.safetensors"), tensors, meta); err != nil {
		return err
	}
	return disk.Replace(filepath.Join(dir, "adapter_config.json"), append(raw, '\n'), 0o644)
}

func (m Config) json(base Shape) ([]byte, error) {
	raw, err := json.MarshalIndent(map[string]any{"peft_type": "LORA", "task_type": "CAUSAL_LM", "base_model_name_or_path": base.Name, "r": m.Rank, "lora_alpha": m.Alpha,
		"use_rslora": m.RsLoRA, "target_modules": m.Targets, "bias": "none", "lora_dropout": 0, "inference_mode": true}, "", "  ")
	return raw, errs.Wrap(errs.Internal, err, "an adapter's configuration cannot be written", "")
}

// TargetNames are what Config.Targets can hold, the head's name last.
func TargetNames() []string { return shortNames() }

// ParseTarget finds the target of a name of TargetNames.
func ParseTarget(name string) (Target, bool) {
	at := slices.Index(shortNames(), name)
	return Target(max(at, 0)), at >= 0
}

func (t Target) String() string { return shortNames()[t] }

// TensorName is what PEFT calls A or, with b, B of a target. For the head the layer does
// not matter.
func TensorName(layer int, t Target, b bool) string {
	module := "model." + place{layer: layer, target: t}.String()
	if t == Head {
		module = headModule
	}
	half := ".lora_A.weight"
	if b {
		half = ".lora_B.weight"
	}
	return "base_model.model." + module + half
}

// Dims are the values in and out of a target.
func (s Shape) Dims(t Target) (in, out int) { return s.dims(t) }
