package setup

// Droid is the file of hooks of Factory Droid.
var Droid = Settings{
	Host:  "droid",
	Place: placeOf("droid"),
	format: hookList{
		key: "hooks", grouped: true, matcher: "*",
		handler: shellHandler,
	},
}
