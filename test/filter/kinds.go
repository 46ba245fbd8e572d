package filter

import (
	"encoding/base64"
	"time"
)

// makers are the kinds of a template's places.
var makers = map[string]func(maker) string{
	"email": maker.email, "card": maker.card, "ip4": maker.ip4, "ip6": maker.ip6, "password": maker.password,

	"key:github": func(m maker) string {
		return one(m, "ghp_"+m.of(word, 36), "github_pat_"+m.of(word, 22)+"_"+m.of(word, 59), "gho_"+m.of(word, 36))
	},
	"key:openai": func(m maker) string { return one(m, "sk-"+m.of(word, 48), "sk-proj-"+m.of(word+"-_", 74)) },
	"key:awsid":  func(m maker) string { return one(m, "AKIA", "ASIA") + m.of(upper+"234567", 16) },
	"key:awssecret": func(m maker) string {
		return m.of(word+"+/", 40)
	},
	"key:jwt": maker.jwt,
	"key:slack": func(m maker) string {
		return "xoxb-" + m.mask("1000000000") + "-" + m.mask("1000000000000") + "-" + m.of(word, 24)
	},
	"key:stripe": func(m maker) string { return one(m, "sk_live_", "rk_live_") + m.of(word, 24) },
	"key:google": func(m maker) string { return "AIza" + m.of(word+"-_", 35) },
	"key:npm":    func(m maker) string { return "npm_" + m.of(word, 36) },
	"key:hf":     func(m maker) string { return "hf_" + m.of(lower+upper, 34) },
	"key:hex":    func(m maker) string { return m.hex(24) },
	"pem":        func(m maker) string { return group(base64.StdEncoding.EncodeToString(m.raw(150)), 64, "\n") },

	// What only looks like something.
	"version": func(m maker) string {
		return one(m, "v", "") + m.mask(one(m, "1.00.0", "0.1.10", "1.0.0-rc.1", "10.1.0.1", "2026.1.10"))
	},
	"sha1": func(m maker) string { return m.hex(20) }, "sha256": func(m maker) string { return m.hex(32) }, "md5": func(m maker) string { return m.hex(16) },
	"isbn13": maker.isbn13, "uuid": maker.uuid,
	"order":    func(m maker) string { return m.mask(one(m, "ORD-100000", "2026-100000", "#10000000", "PO 1000-00")) },
	"tracking": func(m maker) string { return one(m, "1Z"+m.of(upper+digits, 16), m.mask("JD0140000000000000")) },
	"price": func(m maker) string {
		return m.mask(one(m, "1.000,00 €", "$1,000.00", "100,00 zł", "¥100,000", "R$ 100,00"))
	},
	"date": func(m maker) string {
		return m.when().Format(one(m, time.DateOnly, "02.01.2006", "01/02/2006", "2 Jan 2006"))
	},
	"datetime": func(m maker) string {
		return m.when().Format(one(m, time.RFC3339, time.DateTime, "02/Jan/2006:15:04:05 -0700"))
	},
	"time":   func(m maker) string { return m.when().Format(one(m, "15:04:05", "15:04", "3h04m05s")) },
	"coords": func(m maker) string { return m.mask("48.100000, 11.500000") },
	"mac":    func(m maker) string { return group(m.hex(6), 2, ":") },
	"serial": func(m maker) string { return m.of(upper, 2) + m.mask("10000-") + m.of(upper+digits, 5) },
	"int4":   func(m maker) string { return m.mask("1000") }, "int5": func(m maker) string { return m.mask("10000") }, "int10": func(m maker) string { return m.mask("1000000000") },
	"int12": func(m maker) string { return m.mask("100000000000") }, "int13": func(m maker) string { return m.notLuhn(13) }, "int16": func(m maker) string { return m.notLuhn(16) },
}

func init() {
	for c := range phones {
		makers["phone:"+c] = func(m maker) string { return m.phone(c) }
	}
	for c := range accounts {
		makers["iban:"+c] = func(m maker) string { return m.iban(c) }
	}
}
