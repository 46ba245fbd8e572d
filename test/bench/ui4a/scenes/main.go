// Command scenes counts the tokens of seven scenes written as cards, next to the counts that
// OpenUI's benchmark publishes for the same scenes in four other notations.
//
//	go run ./test/bench/ui4a/scenes [-samples DIR]
//
// DIR of -samples is benchmarks/samples of thesysdev/openui: its own files are counted as
// well, so that the published counts are seen to be those of the same counter. README.md
// says what each card has of its scene.
package main

import (
	"embed"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/tiktoken-go/tokenizer"

	"macaron/internal/ui4a/compile"
)

//go:embed *.tsx
var cards embed.FS

// published are the counts of benchmarks/README.md of thesysdev/openui (MIT), with
// tiktoken's encoding of gpt-5, o200k_base.
var published = []struct {
	scene                         string
	yaml, render, c1Tree, langOwn int
}{
	{"simple-table", 316, 340, 357, 148},
	{"chart-with-data", 464, 520, 516, 231},
	{"contact-form", 762, 893, 849, 294},
	{"dashboard", 2128, 2247, 2261, 1226},
	{"pricing-page", 2230, 2487, 2379, 1195},
	{"settings-panel", 1077, 1244, 1205, 540},
	{"e-commerce-product", 2145, 2449, 2381, 1166},
}

// suffixes are those of the sample files, in the order of the table's columns.
var suffixes = []string{".yaml", ".vercel.jsonl", ".c1.json", ".oui"}

func main() {
	samples := flag.String("samples", "", "directory of OpenUI's sample files, to be counted too")
	flag.Parse()
	if err := run(*samples); err != nil {
		log.Fatal(err)
	}
}

func run(samples string) error {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		return err
	}
	fmt.Println("| scene | YAML | json-render | C1 | OpenUI | card | card to OpenUI |\n|---|---|---|---|---|---|---|")
	sum := make([]int, 5)
	for _, p := range published {
		card, err := count(codec, p.scene)
		if err != nil {
			return err
		}
		row := []int{p.yaml, p.render, p.c1Tree, p.langOwn, card}
		for i, n := range row {
			sum[i] += n
		}
		fmt.Println(line(p.scene, row))
		if samples != "" {
			if err := recount(codec, filepath.Join(samples, p.scene), row[:4]); err != nil {
				return err
			}
		}
	}
	fmt.Println(line("**total**", sum))
	return nil
}

func line(name string, n []int) string {
	return fmt.Sprintf("| %s | %d | %d | %d | %d | %d | %+.1f %% |", name, n[0], n[1], n[2], n[3], n[4], 100*(float64(n[4])/float64(n[3])-1))
}

// count gives the tokens of a card that nothing is found wrong with. Like the other files
// it is counted as an answer: without a fence around it, and without a line break at its end.
func count(codec tokenizer.Codec, scene string) (int, error) {
	b, err := cards.ReadFile(scene + ".tsx")
	if err != nil {
		return 0, err
	}
	if _, findings := compile.Compile(string(b), compile.Options{}); len(findings) > 0 {
		return 0, fmt.Errorf("%s: %+v", scene, findings)
	}
	return codec.Count(strings.TrimSpace(string(b)))
}

// address is what the samples' pictures have instead of a name.
var address = regexp.MustCompile(`https://images\.unsplash\.com/[^"]+`)

// recount counts OpenUI's own files, and tells where they are not what was published; of
// pictures also without their addresses.
func recount(codec tokenizer.Codec, base string, want []int) error {
	for i, suffix := range suffixes {
		b, err := os.ReadFile(base + suffix)
		if err != nil {
			return err
		}
		n, err := codec.Count(string(b))
		if err != nil {
			return err
		}
		said := "as published"
		if n != want[i] {
			said = fmt.Sprintf("published: %d", want[i])
		}
		if bare := address.ReplaceAllString(string(b), "asset:side"); bare != string(b) {
			short, err := codec.Count(bare)
			if err != nil {
				return err
			}
			said += fmt.Sprintf("; %d with names for the addresses of its pictures", short)
		}
		fmt.Fprintf(os.Stderr, "%s: %d, %s\n", filepath.Base(base)+suffix, n, said)
	}
	return nil
}
