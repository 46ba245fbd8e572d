package config

import (
	"fmt"
	"strconv"
	"strings"
)

// setPrice reads "prompt=3,cached=0.3,output=15"; what cached tokens cost is what prompts
// cost where it does not say.
func setPrice(c *Config, v string) error {
	p := Price{Known: true, Cached: -1}
	seen := map[string]bool{}
	for _, pair := range strings.Split(v, ",") {
		name, number, _ := strings.Cut(strings.TrimSpace(pair), "=")
		at, ok := map[string]*float64{"prompt": &p.Prompt, "cached": &p.Cached, "output": &p.Output}[name]
		x, err := strconv.ParseFloat(number, 64)
		if !ok || seen[name] || err != nil || !(x >= 0 && x <= 1e6) {
			return fmt.Errorf("it must be prompt=NUMBER,output=NUMBER and perhaps cached=NUMBER, each once and from 0 to 1000000")
		}
		*at, seen[name] = x, true
	}
	if !seen["prompt"] || !seen["output"] {
		return fmt.Errorf("it must have both prompt and output")
	}
	if p.Cached < 0 {
		p.Cached = p.Prompt
	}
	c.Runs.Price = p
	return nil
}
