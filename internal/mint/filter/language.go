package filter

import (
	"unicode"

	"github.com/abadojack/whatlanggo"
)

// Unknown is the language of a text that is too short or too mixed to tell.
const Unknown = "und"

// Language guesses a text's language, as ISO 639-1 where there is such a code. Scripts that
// one language has are told by themselves, however short the text.
func Language(text string) string {
	if l := scripted(text); l != "" {
		return l
	}
	info := whatlanggo.Detect(text)
	if !info.IsReliable() {
		return Unknown
	}
	if two := info.Lang.Iso6391(); two != "" {
		return two
	}
	return info.Lang.Iso6393()
}

// scripted tells Japanese, Korean and Chinese: kana and hangul are nobody else's, and Han
// without kana is Chinese.
func scripted(text string) string {
	var letters, kana, hangul, han int
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Hiragana, unicode.Katakana):
			kana++
		case unicode.Is(unicode.Hangul, r):
			hangul++
		case unicode.Is(unicode.Han, r):
			han++
		}
		if unicode.IsLetter(r) {
			letters++
		}
	}
	switch {
	case letters == 0:
		return Unknown
	case 10*(kana+han) >= 3*letters && kana > 0 && 8*kana >= han:
		return "ja"
	case 10*hangul >= 3*letters:
		return "ko"
	case 10*han >= 3*letters:
		return "zh"
	}
	return ""
}
