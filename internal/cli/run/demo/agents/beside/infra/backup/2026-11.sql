dump of November
