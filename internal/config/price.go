package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"macaron/internal/errs"
	"macaron/internal/money"
)

// maxPrices bounds the list of prices.
const maxPrices = 4096

// priceKeys are the settings of one of [[prices]].
var priceKeys = []string{"engine", "model", "input", "cached", "output"}

// readPrices reads [[prices]].
func readPrices(list any) (money.Table, error) {
	if list == nil {
		return nil, nil
	}
	tables, ok := list.([]any)
	if !ok || len(tables) > maxPrices {
		return nil, fmt.Errorf("prices must be a list of at most %d tables, each written [[prices]]", maxPrices)
	}
	var out money.Table
	for i, t := range tables {
		table, _ := t.(map[string]any)
		row, err := readPrice(table)
		if err == nil && slices.ContainsFunc(out, func(o money.Row) bool { return o.Engine == row.Engine && o.Model == row.Model }) {
			err = errors.New("another one is of the same engine and model")
		}
		if err != nil {
			return nil, fmt.Errorf("prices[%d]: %w", i, err)
		}
		out = append(out, row)
	}
	return out, nil
}

func readPrice(t map[string]any) (r money.Row, err error) {
	given := map[string]string{}
	for k, v := range t {
		if !slices.Contains(priceKeys, k) {
			return r, fmt.Errorf("unknown key %q; known are %s", errs.Clip(k), strings.Join(priceKeys, ", "))
		}
		switch v := v.(type) {
		case string:
			given[k] = v
		case int64:
			given[k] = strconv.FormatInt(v, 10)
		case float64:
			given[k] = strconv.FormatFloat(v, 'f', -1, 64) // the decimal number that stands in the file
		default:
			return r, fmt.Errorf("%s must be a number or a text", k)
		}
	}
	if err := errors.Join(textAt(t, "engine", &r.Engine), textAt(t, "model", &r.Model)); err != nil {
		return r, err
	}
	delete(given, "engine")
	delete(given, "model")
	r.Rate, err = rate(given)
	return r, err
}

// rate reads the prices of a million tokens. What cached tokens cost is what others of the
// prompt cost where nothing else is said.
func rate(given map[string]string) (r money.Rate, err error) {
	if _, ok := given["cached"]; !ok {
		given["cached"] = given["input"]
	}
	for name, at := range map[string]*money.USD{"input": &r.Input, "cached": &r.Cached, "output": &r.Output} {
		text, ok := given[name]
		if !ok || text == "" {
			return r, errors.New("both input and output must be given")
		}
		if *at, err = money.Parse(text); err != nil || *at > money.MostRate {
			return r, fmt.Errorf("%s must be a number of USD from 0 to %s, with at most nine decimals", name, money.MostRate)
		}
	}
	return r, nil
}

// setPrice reads "input=3,cached=0.3,output=15", the price of what no table fits.
func setPrice(c *Config, v string) error {
	given := map[string]string{}
	for _, pair := range strings.Split(v, ",") {
		name, number, _ := strings.Cut(strings.TrimSpace(pair), "=")
		if _, twice := given[name]; twice || !slices.Contains(priceKeys[2:], name) {
			return errors.New("it must be input=NUMBER,output=NUMBER and perhaps cached=NUMBER, each once")
		}
		given[name] = number
	}
	r, err := rate(given)
	if err != nil {
		return err
	}
	c.Price = &r
	return nil
}

// PriceTable has all prices that are set.
func (c Config) PriceTable() money.Table {
	all := slices.Clone(c.Prices)
	if c.Price != nil {
		all = append(all, money.Row{Rate: *c.Price}) // behind a table for everything, which counts before it
	}
	return all
}
