package setup

// droid is the file of hooks of Factory droid.
var droid = Settings{
	Host:  "droid",
	Place: placeOf("droid"),
	format: hookList{
		key: "hooks", grouped: true, matcher: "*",
		handler: shellHandler,
	},
}
