// Package grammar keeps an answer inside a language: a regular expression, a JSON
// Schema, a context-free grammar, a choice of texts, calls of tools. It tells before
// each token which tokens of the vocabulary can still lead to a text of the language.
//
// A grammar is a recursive transition network over bytes (package rtn). What a text
// can be so far is a set of items, each a node of the network and a frame: whom to
// return to (Earley 1970, with the graph-structured stack of Tomita 1986). Frames are
// persistent, so a Matcher is copied by copying its items.
//
// A mask is found by walking the trie of the vocabulary with an automaton that is made
// as the walk needs it. The automaton sees one frame only: what a token does within the
// innermost rule depends on nothing else and is kept for every place where that rule is
// called. Where a token leaves the rule, the walk goes on in the frame below, and is
// kept too.
package grammar
