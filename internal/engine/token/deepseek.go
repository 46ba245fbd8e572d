package token

import (
	"cmp"
	"slices"
	"unicode"
)

// casedRunes are the letters with case as DeepSeek's first vocabulary lists them, which
// are fewer than Unicode's: ranges, and single runes, as in an expression's class.
const casedRunes = "A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-ώᾀ-ᾴᾶ-ᾼιῂ-ῄῆ-ῌῐ-ΐῖ-Ίῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤΩℨK-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃"

var casedLetters = classOf(casedRunes)

// classOf reads the ranges of an expression's class.
func classOf(list string) *unicode.RangeTable {
	t := &unicode.RangeTable{}
	runes := []rune(list)
	for i := 0; i < len(runes); i++ {
		low, high := uint32(runes[i]), uint32(runes[i])
		if i+2 < len(runes) && runes[i+1] == '-' {
			high = uint32(runes[i+2])
			i += 2
		}
		t.R32 = append(t.R32, unicode.Range32{Lo: low, Hi: high, Stride: 1})
	}
	slices.SortFunc(t.R32, func(a, b unicode.Range32) int { return cmp.Compare(a.Lo, b.Lo) })
	return t
}

func cased(r rune) bool { return unicode.Is(casedLetters, r) }

// deepMarks is [!-/:-~！-／：-～‘-‟　-。]; letters were taken before.
func deepMarks(r rune) bool {
	return r >= '!' && r <= '/' || r >= ':' && r <= '~' || r >= 0xff01 && r <= 0xff0f || r >= 0xff1a && r <= 0xff5e ||
		r >= 0x2018 && r <= 0x201f || r >= 0x3000 && r <= 0x3002
}

// eastAsian is [一-龥ࠀ-一가-퟿].
func eastAsian(r rune) bool { return r >= 0x800 && r <= 0x9fa5 || r >= 0xac00 && r <= 0xd7ff }

// ideogram is [一-龥぀-ゟ゠-ヿ].
func ideogram(r rune) bool { return r >= 0x4e00 && r <= 0x9fa5 || r >= 0x3040 && r <= 0x30ff }

func newline(r rune) bool { return r == '\n' }

func lineEnd(r rune) bool { return r == '\r' || r == '\n' }

// deepWord is the main expression of DeepSeek V3, where it matches:
//
//	[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+
//	| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
func deepWord(s string) int {
	c, n := rune0(s)
	if c < unicode.MaxASCII && mark(c) {
		if m := prefix(s[1:], asciiLetter); m > 0 {
			return 1 + m
		}
	}
	if !lineEnd(c) && !unicode.IsLetter(c) && !mark(c) {
		if m := prefix(s[n:], letterOrMark); m > 0 {
			return n + m
		}
	}
	if m := prefix(s, letterOrMark); m > 0 {
		return m
	}
	lead := 0
	if c == ' ' {
		lead = 1
	}
	if m := prefix(s[lead:], mark); m > 0 {
		return lead + m + prefix(s[lead+m:], lineEnd)
	}
	if !unicode.IsSpace(c) {
		return 0
	}
	return breaks(s)
}

func letterOrMark(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) }

func mark(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }

func asciiLetter(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' }
