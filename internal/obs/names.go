package obs

import (
	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
)

// The attributes of spans. Those of OpenTelemetry are of its semantic conventions 1.41.0, the last
// that had generative AI among them; what they have no name for is under "macaron.".
const schemaURL = semconv.SchemaURL

var (
	opName       = semconv.GenAIOperationNameKey
	provider     = semconv.GenAIProviderNameKey
	agentName    = semconv.GenAIAgentNameKey
	conversation = semconv.GenAIConversationIDKey
	model        = semconv.GenAIRequestModelKey
	maxTokens    = semconv.GenAIRequestMaxTokensKey
	temperature  = semconv.GenAIRequestTemperatureKey
	topP         = semconv.GenAIRequestTopPKey
	finish       = semconv.GenAIResponseFinishReasonsKey
	firstChunk   = semconv.GenAIResponseTimeToFirstChunkKey
	inputTokens  = semconv.GenAIUsageInputTokensKey
	cachedTokens = semconv.GenAIUsageCacheReadInputTokensKey
	outputTokens = semconv.GenAIUsageOutputTokensKey
	toolName     = semconv.GenAIToolNameKey
	toolCall     = semconv.GenAIToolCallIDKey
	errorType    = semconv.ErrorTypeKey
	// Only with content.
	inputText  = semconv.GenAIInputMessagesKey
	outputText = semconv.GenAIOutputMessagesKey
	toolInput  = semconv.GenAIToolCallArgumentsKey
	toolOutput = semconv.GenAIToolCallResultKey

	requestID   = attribute.Key("macaron.request.id")
	tenant      = attribute.Key("macaron.tenant")
	turnID      = attribute.Key("macaron.turn.id")
	turnStatus  = attribute.Key("macaron.turn.status")
	hopKind     = attribute.Key("macaron.hop")
	adapterName = attribute.Key("macaron.adapter")
	revision    = attribute.Key("macaron.adapter.revision")
	reason      = attribute.Key("macaron.route.reason")
	routeCause  = attribute.Key("macaron.route.cause")
	probability = attribute.Key("macaron.route.probability")
	label       = attribute.Key("macaron.route.label")
	version     = attribute.Key("macaron.engine.version")
	contractKey = attribute.Key("macaron.contract")
	runID       = attribute.Key("macaron.run.id")
	runStatus   = attribute.Key("macaron.run.status")
	runMode     = attribute.Key("macaron.run.mode")
	runPurpose  = attribute.Key("macaron.run.purpose")
	toolEffect  = attribute.Key("macaron.tool.effect")
)
