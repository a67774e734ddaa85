dump of October
