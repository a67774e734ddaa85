package setup

// Qwen is the settings file of Qwen Code. It counts in seconds, but reads 1000 and more as milliseconds,
// and older versions read every number as milliseconds; so milliseconds mean the same to all.
var Qwen = Settings{
	Host:  "qwen",
	Place: placeOf("qwen"),
	format: hookList{
		key: "hooks", grouped: true, matcher: "*",
		handler: milliHandler,
	},
}
