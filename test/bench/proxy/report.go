package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
)

// key names a row of the table.
type key struct{ cell, subject string }

// printReport prints medians and ranges of every figure of a file, and ratios.
func printReport(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	all := map[key][]measurement{}
	var subjects []string
	for in := bufio.NewScanner(file); in.Scan(); {
		var m measurement
		if err := json.Unmarshal(in.Bytes(), &m); err != nil {
			return err
		}
		all[key{m.Cell, m.Subject}] = append(all[key{m.Cell, m.Subject}], m)
		if !slices.Contains(subjects, m.Subject) {
			subjects = append(subjects, m.Subject)
		}
	}
	slices.Sort(subjects)
	fmt.Println("| cell | proxy | n | turns/s | CPU ms a turn | p50 ms | p99 ms | RSS MB |\n|---|---|---|---|---|---|---|---|")
	for _, c := range cells {
		for _, s := range subjects {
			rows := all[key{c.Name, s}]
			if len(rows) == 0 {
				continue
			}
			fmt.Printf("| %s | %s | %d | %s | %s | %s | %s | %s |\n", c.Name, s, len(rows),
				spread(rows, "%.0f", func(m measurement) float64 { return m.Speed }), spread(rows, "%.2f", cpuOf),
				spread(rows, "%.1f", func(m measurement) float64 { return m.P50 }), spread(rows, "%.1f", p99Of),
				spread(rows, "%.0f", func(m measurement) float64 { return m.RSS }))
		}
	}
	fmt.Println("\n| cell | peer / macaron, CPU | macaron / bare, CPU | macaron / bare flushing, CPU | peer / macaron, p99 |\n|---|---|---|---|---|")
	for _, c := range cells {
		of := func(s string) []measurement { return all[key{c.Name, s}] }
		if len(of("macaron")) > 0 {
			fmt.Printf("| %s | %s | %s | %s | %s |\n", c.Name, ratio(of("peer"), of("macaron"), cpuOf), ratio(of("macaron"), of("bare"), cpuOf),
				ratio(of("macaron"), of("bare, flushing"), cpuOf), ratio(of("peer"), of("macaron"), p99Of))
		}
	}
	return nil
}

func cpuOf(m measurement) float64 { return m.CPU }
func p99Of(m measurement) float64 { return m.P99 }

// spread is the median, and the range if there is one.
func spread(rows []measurement, format string, of func(measurement) float64) string {
	var v []float64
	for _, m := range rows {
		v = append(v, of(m))
	}
	return spreadOf(v, format)
}

func spreadOf(v []float64, format string) string {
	slices.Sort(v)
	if len(v) == 0 {
		return "-"
	}
	middle := fmt.Sprintf(format, (v[len(v)/2]+v[(len(v)-1)/2])/2)
	if len(v) == 1 {
		return middle
	}
	return fmt.Sprintf("%s ("+format+" - "+format+")", middle, v[0], v[len(v)-1])
}

// ratio is a to b, round by round.
func ratio(a, b []measurement, of func(measurement) float64) string {
	var v []float64
	for i := range min(len(a), len(b)) {
		v = append(v, of(a[i])/of(b[i]))
	}
	return spreadOf(v, "%.2f")
}
