package hf

// TokenizerFiles reads tokenizer.json and, in the order in which they count, the files
// beside it that say more about its tokens.
func TokenizerFiles(dir string) (tokenizer []byte, companions [][]byte, err error) {
	if tokenizer, err = ReadFile(dir, TokenizerFile); err != nil {
		return nil, nil, err
	}
	for _, name := range []string{TokenizerConfigFile, SpecialsFile, GenerationFile, ConfigFile} {
		if !Exists(dir, name) {
			continue
		}
		raw, err := ReadFile(dir, name)
		if err != nil {
			return nil, nil, err
		}
		companions = append(companions, raw)
	}
	return tokenizer, companions, nil
}
