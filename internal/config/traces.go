package config

import (
	"fmt"
	"strconv"
	"strings"
)

// otelLayer lets the standard variables that have no setting of their own speak: the base
// address of all signals, and the switch for everything.
func otelLayer(env func(string) (string, bool)) layer {
	value := func(f Field) (value, name string) {
		switch f.Key {
		case "traces.endpoint":
			if base, ok := nonEmpty(env, "OTEL_EXPORTER_OTLP_ENDPOINT"); ok {
				return strings.TrimRight(base, "/") + "/v1/traces", "OTEL_EXPORTER_OTLP_ENDPOINT"
			}
		case "traces.exporter":
			if off, _ := env("OTEL_SDK_DISABLED"); strings.EqualFold(off, "true") {
				return "none", "OTEL_SDK_DISABLED"
			}
		}
		return "", ""
	}
	return layer{
		origin: func(f Field) Origin { _, name := value(f); return FromEnv + ":" + Origin(name) },
		get:    func(f Field) (string, bool) { v, _ := value(f); return v, v != "" },
	}
}

func setEndpoint(c *Config, v string) error {
	if err := checkURL(v); err != nil {
		return fmt.Errorf("it must be an http or https URL without credentials and query, such as http://127.0.0.1:4318/v1/traces")
	}
	c.Traces.Endpoint = v
	return nil
}

func setSample(c *Config, v string) error {
	f, err := strconv.ParseFloat(v, 64)
	if err != nil || !(f >= 0 && f <= 1) {
		return fmt.Errorf("it must be a number from 0 to 1")
	}
	c.Traces.Sample = &f
	return nil
}

func truth(at func(*Config) *bool) func(*Config, string) error {
	return func(c *Config, v string) (err error) {
		if *at(c), err = strconv.ParseBool(strings.ToLower(v)); err != nil {
			return fmt.Errorf("it must be true or false")
		}
		return nil
	}
}
