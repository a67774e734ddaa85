package llm

// The models of OpenAI at a server of the test.
var (
	NewChat        = newChat
	NewResponses   = newResponses
	OpenAIEndpoint = openAIEndpoint
	AtOpenAI       = atOpenAI
)

// AnthropicAt returns a model of Anthropic at a server of the test.
func AnthropicAt(url, name, key string, o Options) *Anthropic {
	server := anthropicEndpoint(url)
	server.Header.Set("X-Api-Key", key)
	return &Anthropic{name: name, options: o, server: server}
}
