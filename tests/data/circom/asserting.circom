pragma circom 2.1.0;

// The inner template refuses what is not a bit, the outer one a large limit.
template Bit() {
    signal input in;
    signal output out;
    in * (in - 1) === 0;
    out <== 1 - in;
}

template Asserting() {
    signal input in[2];
    signal input limit;
    signal output out;
    component bits[2];
    for (var i = 0; i < 2; i++) {
        bits[i] = Bit();
        bits[i].in <== in[i];
    }
    log("limit is", limit);
    assert(limit < 1000);
    out <== bits[0].out * bits[1].out + limit;
}

component main = Asserting();
