"""Rules, referee, match, journal, bulletin and the service that ties them together."""
