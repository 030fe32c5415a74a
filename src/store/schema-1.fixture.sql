-- A database as the first released schema made it. Never edited: it stands for what users have.
PRAGMA application_id = 1397312844;
PRAGMA user_version = 1;
CREATE TABLE devices (
  id TEXT PRIMARY KEY,
  body TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE leases (
  id TEXT PRIMARY KEY,
  device_id TEXT NOT NULL UNIQUE REFERENCES devices (id) DEFERRABLE INITIALLY DEFERRED,
  requester_id TEXT NOT NULL UNIQUE,
  body TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE requests (
  id TEXT PRIMARY KEY,
  seq INTEGER NOT NULL UNIQUE,
  requester_id TEXT NOT NULL,
  state TEXT NOT NULL,
  body TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX requests_open ON requests (requester_id) WHERE state = 'open';
CREATE TABLE events (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  ts INTEGER NOT NULL,
  name TEXT NOT NULL,
  module TEXT NOT NULL,
  payload TEXT NOT NULL
) STRICT;
CREATE INDEX events_ts ON events (ts);
INSERT INTO devices VALUES ('dev_1', '{"id":"dev_1","kind":"simulator","spec":{"platform":"ios","model":"iPhone 17","osVersion":"26.0"},"class":"phone","mode":"full","state":"leased","stateSince":1000,"physical":false,"shared":false,"name":"simlock-dev_1","mark":"mark-dev_1","driverDeviceId":"6F1C","address":"6F1C","environment":{},"createdAt":1000}');
INSERT INTO leases VALUES ('lse_1', 'dev_1', 'agent', '{"id":"lse_1","deviceId":"dev_1","requestId":"req_1","requesterId":"agent","ownerId":"agent","grantedAt":2000,"ttlMs":900000,"ttlDeadline":902000,"lastRenewedAt":2000,"poweredOff":false}');
INSERT INTO requests VALUES ('req_1', 1, 'agent', 'granted', '{"id":"req_1","seq":1,"requesterId":"agent","ownerId":"agent","principal":"agent","input":{"platform":"ios","model":"iPhone 17"},"createdAt":1500,"state":"granted","failures":0,"settledAt":2000,"grant":{"device":{"id":"dev_1","driverDeviceId":"6F1C","spec":{"platform":"ios","model":"iPhone 17","osVersion":"26.0"},"address":"6F1C","mode":"full"},"environment":{},"lease":{"id":"lse_1","deviceId":"dev_1","requesterId":"agent","ownerId":"agent","grantedAt":2000,"ttlMs":900000,"ttlDeadline":902000,"lastRenewedAt":2000},"timing":{"estimatedProvisionMs":0,"estimatedBootMs":0,"estimatedReclaimMs":0,"estimatedReadyMs":0}}}');
INSERT INTO events VALUES (4, 'evt_4', 2000, 'lease.granted', 'leasing', '{"leaseId":"lse_1","deviceId":"dev_1","requester":"agent","requestId":"req_1","source":"warm"}');
