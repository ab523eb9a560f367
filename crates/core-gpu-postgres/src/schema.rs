//! What is kept in the database: tables and functions of a schema of its own, made where they are not there.

/// Raised whenever what is below changes: programs of two versions do not share a schema.
pub(crate) const VERSION: i32 = 1;

/// Makes the schema `{schema}`, whole or not at all.
pub(crate) fn definition(schema: &str) -> String {
    TABLES
        .iter()
        .chain(FUNCTIONS)
        .map(|part| part.replace("{schema}", schema))
        .collect::<Vec<_>>()
        .join(";\n")
        .replace("{version}", &VERSION.to_string())
}

const TABLES: &[&str] = &[
    "CREATE SCHEMA IF NOT EXISTS {schema}",
    "CREATE TABLE {schema}.version (version integer NOT NULL)",
    "INSERT INTO {schema}.version VALUES ({version})",
    // A device, and how often it was claimed.
    "CREATE TABLE {schema}.devices (
        device text PRIMARY KEY, capacity bigint, closed text, revision bigint NOT NULL DEFAULT 0)",
    // A slot that is held, or whose lease ran out.
    "CREATE TABLE {schema}.slots (
        device text NOT NULL, slot bigint NOT NULL, lease bigint NOT NULL UNIQUE, revision bigint NOT NULL,
        expires timestamptz NOT NULL, node text NOT NULL, process bigint NOT NULL,
        bytes numeric(20) NOT NULL, since numeric(20) NOT NULL, used numeric(20) NOT NULL,
        PRIMARY KEY (device, slot))",
    // Leases of claims whose answers were lost: they make none any more.
    "CREATE TABLE {schema}.ended (lease bigint PRIMARY KEY, at timestamptz NOT NULL)",
    "CREATE TABLE {schema}.nodes (
        node text PRIMARY KEY, lease bigint NOT NULL, expires timestamptz NOT NULL, devices text NOT NULL)",
];

const FUNCTIONS: &[&str] = &[CLAIM, RENEW, RELEASE, CLOSE];

/// Takes a slot of a device under a lease. `outcome` is `taken` with `on_device`, `slot` and `revision`, also where the
/// lease has made its claim before, of whatever device; or `full` with `wait`, the milliseconds until the next
/// lease runs out; `closed` with `why`; `capacity` with `revision`, the number that others go by; `memory`; `over` for a
/// lease that cannot make a claim any more.
const CLAIM: &str = "
CREATE FUNCTION {schema}.claim(
    of_device text, of_slots bigint, of_budget numeric, of_lease bigint, of_time interval,
    of_first bigint, of_node text, of_process bigint, of_bytes numeric, of_since numeric,
    OUT outcome text, OUT on_device text, OUT slot bigint, OUT revision bigint, OUT why text,
    OUT wait double precision)
LANGUAGE plpgsql SET search_path = {schema}, pg_temp AS $$
#variable_conflict use_column
DECLARE
    device_row devices%ROWTYPE;
    held bigint;
    claimed numeric;
    locked boolean := false;
BEGIN
    -- With the end of a lease that may still make a claim: one after the other.
    PERFORM pg_advisory_xact_lock(of_lease);
    UPDATE slots s SET expires = clock_timestamp() + of_time
        WHERE s.lease = of_lease AND s.expires > clock_timestamp()
        RETURNING s.device, s.slot, s.revision INTO on_device, slot, revision;
    IF FOUND THEN
        outcome := 'taken';
        RETURN;
    END IF;
    PERFORM 1 FROM slots s WHERE s.lease = of_lease UNION ALL SELECT 1 FROM ended e WHERE e.lease = of_lease;
    IF FOUND THEN
        outcome := 'over';
        RETURN;
    END IF;
    -- Once to look, which costs nothing and locks nothing, and once more under the lock.
    LOOP
        IF locked THEN
            INSERT INTO devices (device) VALUES (of_device) ON CONFLICT DO NOTHING;
            SELECT * INTO device_row FROM devices d WHERE d.device = of_device FOR UPDATE;
        ELSE
            SELECT * INTO device_row FROM devices d WHERE d.device = of_device;
        END IF;
        IF device_row.closed IS NOT NULL THEN
            outcome := 'closed';
            why := device_row.closed;
            RETURN;
        END IF;
        SELECT count(*), coalesce(sum(s.bytes), 0),
                1000 * extract(epoch FROM min(s.expires) - clock_timestamp())
            INTO held, claimed, wait
            FROM slots s WHERE s.device = of_device AND s.expires > clock_timestamp();
        IF device_row.capacity <> of_slots AND held > 0 THEN
            outcome := 'capacity';
            revision := device_row.capacity;
            RETURN;
        END IF;
        IF of_bytes > 0 AND claimed + of_bytes > of_budget THEN
            outcome := 'memory';
            RETURN;
        END IF;
        IF held >= of_slots THEN
            outcome := 'full';
            RETURN;
        END IF;
        EXIT WHEN locked;
        locked := true;
    END LOOP;
    -- In an order, as renewals lock them.
    PERFORM 1 FROM slots s WHERE s.device = of_device AND s.expires <= clock_timestamp()
        ORDER BY s.device, s.slot FOR UPDATE;
    DELETE FROM slots s WHERE s.device = of_device AND s.expires <= clock_timestamp();
    SELECT number INTO slot FROM generate_series(0, of_slots - 1) AS number
        WHERE NOT EXISTS (SELECT 1 FROM slots s WHERE s.device = of_device AND s.slot = number)
        ORDER BY (number < of_first), number LIMIT 1;
    IF slot IS NULL THEN
        -- One that had run out was renewed at the last moment.
        outcome := 'full';
        RETURN;
    END IF;
    UPDATE devices d SET capacity = of_slots, revision = d.revision + 1 WHERE d.device = of_device
        RETURNING d.revision INTO revision;
    INSERT INTO slots VALUES (of_device, slot, of_lease, revision, clock_timestamp() + of_time,
        of_node, of_process, of_bytes, of_since, 0);
    on_device := of_device;
    outcome := 'taken';
END
$$";

/// Goes on holding all slots of these leases that have not run out: which those are.
const RENEW: &str = "
CREATE FUNCTION {schema}.renew(of_leases bigint[], of_time interval) RETURNS SETOF bigint
LANGUAGE plpgsql SET search_path = {schema}, pg_temp AS $$
BEGIN
    PERFORM 1 FROM slots s WHERE s.lease = ANY (of_leases) ORDER BY s.device, s.slot FOR UPDATE;
    RETURN QUERY UPDATE slots s SET expires = clock_timestamp() + of_time
        WHERE s.lease = ANY (of_leases) AND s.expires > clock_timestamp() RETURNING s.lease;
    RETURN QUERY UPDATE nodes n SET expires = clock_timestamp() + of_time
        WHERE n.lease = ANY (of_leases) AND n.expires > clock_timestamp() RETURNING n.lease;
END
$$";

/// Gives a slot back. A lease of which an answer was lost makes no claim any more.
const RELEASE: &str = "
CREATE FUNCTION {schema}.release(of_lease bigint, is_doubtful boolean) RETURNS void
LANGUAGE plpgsql SET search_path = {schema}, pg_temp AS $$
DECLARE
    gone text;
BEGIN
    IF is_doubtful THEN
        PERFORM pg_advisory_xact_lock(of_lease);
        INSERT INTO ended VALUES (of_lease, clock_timestamp()) ON CONFLICT DO NOTHING;
        DELETE FROM ended e WHERE e.at < clock_timestamp() - interval '7 days';
    END IF;
    DELETE FROM slots s WHERE s.lease = of_lease RETURNING s.device INTO gone;
    IF gone IS NOT NULL THEN
        PERFORM pg_notify('{schema}', gone);
    END IF;
    DELETE FROM nodes n WHERE n.lease = of_lease RETURNING n.node INTO gone;
    IF gone IS NOT NULL THEN
        PERFORM pg_notify('{schema}', gone);
    END IF;
END
$$";

/// Closes a device to new claims, or opens it where there is no reason.
const CLOSE: &str = "
CREATE FUNCTION {schema}.close(of_device text, of_why text) RETURNS void
LANGUAGE sql SET search_path = {schema}, pg_temp AS $$
    INSERT INTO devices (device, closed) VALUES (of_device, of_why)
        ON CONFLICT (device) DO UPDATE SET closed = of_why;
    SELECT pg_notify('{schema}', of_device);
$$";
