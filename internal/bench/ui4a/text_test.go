package ui4a

import "testing"

func TestFactsAreFoundInUsualNotations(t *testing.T) {
	for _, test := range []struct {
		text  string
		facts Facts
		want  bool
	}{
		{"Total: $1,234.50", Facts{Numbers: []float64{1234.5}}, true},
		{"Summe: 1.234,50 €", Facts{Numbers: []float64{1234.5}}, true},
		{"Somme : 1 234,50 €", Facts{Numbers: []float64{1234.5}}, true},
		{"CHF 1'234.5", Facts{Numbers: []float64{1234.5}}, true},
		{"12,34,567 rupees", Facts{Numbers: []float64{1234567}}, true},
		{"−5 °C", Facts{Numbers: []float64{-5}}, true},
		{"5 °C", Facts{Numbers: []float64{-5}}, false},
		{"310 285 342", Facts{Numbers: []float64{285}}, true},
		{"42", Facts{Numbers: []float64{4}}, false},
		{"14.5", Facts{Numbers: []float64{14.4}}, false},
		{"Ann’s  “Café”", Facts{Text: []string{"ann's \"café\""}}, true},
		{"Annual", Facts{Text: []string{"Ann"}}, false},
		{"東京タワー", Facts{Text: []string{"東京"}}, true},
		{"Watercolour", Facts{Text: []string{"Watercolor|Watercolour"}}, true},
		{"Friday, December 4th", Facts{Dates: []string{"2026-12-04"}}, true},
		{"am 4. Dezember 2026", Facts{Dates: []string{"2026-12-04"}}, true},
		{"04.12.", Facts{Dates: []string{"2026-12-04"}}, true},
		{"4 to 6 December", Facts{Dates: []string{"2026-12-06"}}, true},
		{"4 to 6 December", Facts{Dates: []string{"2026-12-04"}}, true},
		{"December 4-6, 2026", Facts{Dates: []string{"2026-12-06"}}, true},
		{"le 4 décembre", Facts{Dates: []string{"2026-12-04"}}, true},
		{"2026-12-14", Facts{Dates: []string{"2026-12-04"}}, false},
		{"14 December", Facts{Dates: []string{"2026-12-04"}}, false},
		{"12月4日", Facts{Dates: []string{"2026-12-04"}}, true},
		{"2:30 PM", Facts{Times: []string{"14:30"}}, true},
		{"14.30 Uhr", Facts{Times: []string{"14:30"}}, true},
		{"2:30 am", Facts{Times: []string{"14:30"}}, false},
		{"9 am", Facts{Times: []string{"09:00"}}, true},
	} {
		if got := test.facts.find(test.text)[0].Pass == 1; got != test.want {
			t.Errorf("%q has %+v: %v, want %v", test.text, test.facts, got, test.want)
		}
	}
}

func TestComputedNumbersCountToThePrecisionShown(t *testing.T) {
	for _, test := range []struct {
		text     string
		v        float64
		decimals int
		want     bool
	}{
		{"each pays $31.68", 31.68, 2, true},
		{"each pays $31.7", 31.68, 2, false},
		{"about 32", 31.68, 0, true},
		{"about 31", 31.68, 0, false},
		{"$86", 86, 2, true},
		{"28.80", 28.8, 2, true},
		{"0.333", 1.0 / 3, 2, true},
		{"0.34", 1.0 / 3, 2, false},
		{"2.675 rounds to 2.68", 2.675, 2, true},
	} {
		if got := shows(numbers(normal(test.text)), test.v, test.decimals); got != test.want {
			t.Errorf("%q shows %v to %d decimals: %v, want %v", test.text, test.v, test.decimals, got, test.want)
		}
	}
}

func TestFormula(t *testing.T) {
	with := map[string]float64{"bill": 86.4, "tip": 10, "people": 3}
	for expression, want := range map[string]float64{
		"round(bill * (1 + tip/100) / people, 2)": 31.68,
		"-bill % 10":                         -6.4,
		"max(1, min(people, 2)) + ceil(0.1)": 3,
		"round(pow(2, 0.5), 3)":              1.414,
	} {
		got, err := Formula(expression, with)
		if err != nil || got-want > 1e-9 || want-got > 1e-9 {
			t.Errorf("%s = %v, %v, want %v", expression, got, err, want)
		}
	}
	for _, wrong := range []string{"1 +", "nobody", "round()", "bill / 0", `"a"`, "f.x(1)", "!1"} {
		if v, err := Formula(wrong, with); err == nil {
			t.Errorf("%s = %v, want an error", wrong, v)
		}
	}
}

// Labels of a Japanese card are mostly Han, and a guess by counting calls them Chinese.
func TestJapaneseLabels(t *testing.T) {
	const japanese, chinese = "忘年会会計 合計金額 参加人数 一人分 幹事の支払額 端数切上 全員精算済", "年终聚餐 合计金额 参加人数 每人金额 组织者付款 尾数进位 全员结清确认"
	for text, code := range map[string]string{japanese: "ja", chinese: "zh"} {
		if ok, why := inLanguage(text, code); !ok {
			t.Errorf("%s is not %s: %s", text, code, why)
		}
	}
	if ok, _ := inLanguage(japanese, "zh"); ok {
		t.Error("Japanese passes for Chinese")
	}
}

// Among few words a guess is right if only the languages of the suite are thought of, and
// with less there is none.
func TestLanguagesOfShortCards(t *testing.T) {
	for text, code := range map[string]string{
		"Rechnung teilen Betrag Trinkgeld Personen Jede Person zahlt Zurücksetzen 31,68 € Quittung anzeigen": "de",
		"Dividir la cuenta Importe Propina Personas Cada persona paga Restablecer 31,68 € Ver el recibo":     "es",
		"Dividir a conta Valor Gorjeta Pessoas Cada pessoa paga Repor 31,68 € Não mostrar o recibo":          "pt",
		"Partager l'addition Montant Pourboire Personnes Chacun paie Réinitialiser 31,68 € Voir le reçu":     "fr",
		"Split the bill Amount Tip People Each person pays Reset $31.68 Show the receipt":                    "en",
		"Timer Start Pause Reset 05:00": "de",
	} {
		if ok, why := inLanguage(text, code); !ok {
			t.Errorf("%s is not %s: %s", text, code, why)
		}
	}
	for text, code := range map[string]string{
		"Here is all that you need to know about the trip, and what you still have to decide before Friday.": "de",
		"Вот всё, что нужно знать о поездке, и что ещё надо решить до пятницы.":                              "en",
	} {
		if ok, _ := inLanguage(text, code); ok {
			t.Errorf("%s passes for %s", text, code)
		}
	}
}
