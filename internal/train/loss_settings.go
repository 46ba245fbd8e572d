package train

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"macaron/internal/errs"
)

// setting is a number that Loss.Config can hold.
type setting struct {
	name     string
	fallback float64
	least    float64
}

// The settings that correct rollouts of another engine, all off by default. icepop_low
// and icepop_high are IcePop's two-sided mask: tokens with a mismatch outside are left
// out. tis_cap is truncated importance sampling: no token counts with a larger mismatch.
var mismatchSettings = []setting{{"icepop_low", 0, 0}, {"icepop_high", math.Inf(1), 0}, {"tis_cap", math.Inf(1), 0}}

// The settings that every loss has. prefix_mode is a Way by number; the other two are those
// of Kept.
var prefixSettings = []setting{{"prefix_mode", 0, 0}, {"prefix_refresh", DefaultRefresh, 1}, {"prefix_drift", DefaultDrift, 1e-9}}

// thresholds are absolute ratios.
func thresholds(low, high float64) []setting {
	return append([]setting{{"clip_low_threshold", low, 0}, {"clip_high_threshold", high, 0}}, mismatchSettings...)
}

// settings are the numbers that hold for a loss.
type settings struct{ values map[string]float64 }

func (s *settings) of(name string) float64 { return s.values[name] }

// read takes the settings of a request; the others have their defaults.
func (k *lossKind) read(l Loss) (settings, error) {
	out := settings{values: map[string]float64{}}
	var known []string
	all := append(k.settings[:len(k.settings):len(k.settings)], prefixSettings...)
	for _, s := range all {
		out.values[s.name] = s.fallback
		known = append(known, s.name)
	}
	for _, name := range slices.Sorted(maps.Keys(l.Config)) {
		at := slices.Index(known, name)
		if at < 0 {
			return out, errs.New(errs.InvalidRequest, fmt.Sprintf("the loss %s has no setting %q", l.Name, errs.Clip(name)), knownOnes("settings", known)).In("loss_fn_config")
		}
		v := l.Config[name]
		if math.IsNaN(v) || math.IsInf(v, 0) || v < all[at].least {
			return out, errs.New(errs.InvalidRequest, fmt.Sprintf("the setting %s is %v", name, v), fmt.Sprintf("use a number from %v", all[at].least)).In("loss_fn_config")
		}
		out.values[name] = v
	}
	if way := out.of("prefix_mode"); way != math.Trunc(way) || way >= float64(len(WayNames)) {
		return out, errs.New(errs.InvalidRequest, fmt.Sprintf("the setting prefix_mode is %v", way), "use 0 exact, 1 plain, 2 response-only or 3 resident-prefix").In("loss_fn_config")
	}
	if n := out.of("prefix_refresh"); n != math.Trunc(n) || n > 1<<20 {
		return out, errs.New(errs.InvalidRequest, fmt.Sprintf("the setting prefix_refresh is %v", n), "use a whole number of optimizer steps").In("loss_fn_config")
	}
	return out, out.ordered()
}

// way is how the beginnings of sequences are treated.
func (e *evaluation) way() Way { return Way(e.set.of("prefix_mode")) }

// ordered refuses bounds that leave nothing between them.
func (s *settings) ordered() error {
	for _, pair := range [][2]string{{"clip_low_threshold", "clip_high_threshold"}, {"icepop_low", "icepop_high"}} {
		if low, high := s.of(pair[0]), s.of(pair[1]); low > high {
			return errs.New(errs.InvalidRequest, fmt.Sprintf("%s is %v, above %s, which is %v", pair[0], low, pair[1], high), "").In("loss_fn_config")
		}
	}
	return nil
}

func knownOnes(what string, names []string) string {
	if len(names) == 0 {
		return "it has no " + what
	}
	return "known " + what + ": " + strings.Join(names, ", ")
}
