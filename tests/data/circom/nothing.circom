pragma circom 2.1.0;

// No inputs: the circuit calculates when it is initialised.
template Nothing() {
    signal output out;
    signal half <-- 1 / 2;
    half * 2 === 1;
    out <== half * half;
}

component main = Nothing();
