//! Packed symmetric matrices on plain slices: the kernel of a round.
//!
//! A `d × d` symmetric matrix is its lower triangle by rows, `d(d+1)/2` numbers: half the memory of the square, and every
//! inner loop below runs over contiguous numbers. Sums are taken in one fixed order, so that results are the same bits on
//! every processor. Nothing here allocates; callers own the buffers.

/// Where sums begin: adding to it changes no bit, so that the first addition costs nothing (`0.0 + x` loses the sign of a zero,
/// and the compiler must perform it).
pub(crate) const NOTHING: f64 = -0.0;

/// Numbers in the packed lower triangle of a `dimension × dimension` matrix.
pub(crate) const fn packed_length(dimension: usize) -> usize {
    dimension * (dimension + 1) / 2
}

/// `Σ aᵢbᵢ`, in four partial sums so that the compiler may use vector registers.
#[inline]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [NOTHING; 4];
    let (a_head, a_tail) = a.as_chunks::<4>();
    let (b_head, b_tail) = b.as_chunks::<4>();
    for (x, y) in a_head.iter().zip(b_head) {
        for lane in 0..4 {
            lanes[lane] += x[lane] * y[lane];
        }
    }
    let mut tail = NOTHING;
    for (x, y) in a_tail.iter().zip(b_tail) {
        tail += x * y;
    }
    (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]) + tail
}

/// `y += scale · x`.
#[inline]
pub(crate) fn add_scaled(y: &mut [f64], scale: f64, x: &[f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += scale * x;
    }
}

/// Calls a function with a fixed length where the dimension is small, so that the compiler lays its loops out flat. A
/// dimension always takes the same way: its sums are the same bits everywhere.
macro_rules! by_dimension {
    ($dimension:expr, $function:ident($($argument:expr),*), $general:expr) => {
        match $dimension {
            1 => $function::<1>($($argument),*),
            2 => $function::<2>($($argument),*),
            3 => $function::<3>($($argument),*),
            4 => $function::<4>($($argument),*),
            5 => $function::<5>($($argument),*),
            6 => $function::<6>($($argument),*),
            7 => $function::<7>($($argument),*),
            8 => $function::<8>($($argument),*),
            _ => $general,
        }
    };
}

pub(crate) use by_dimension;

/// Stands for a dimension that the compiler does not know.
pub(crate) const ANY: usize = 0;

/// The dimension, as a constant where it is one.
#[inline]
pub(crate) const fn known<const D: usize>(dimension: usize) -> usize {
    if D == ANY { dimension } else { D }
}

/// `out = A x`.
#[inline]
pub(crate) fn multiply(matrix: &[f64], x: &[f64], out: &mut [f64]) {
    by_dimension!(x.len(), multiply_sized(matrix, x, out), multiply_sized::<ANY>(matrix, x, out));
}

/// The same for a dimension that the caller knows.
#[inline]
pub(crate) fn multiply_sized<const D: usize>(matrix: &[f64], x: &[f64], out: &mut [f64]) {
    if D == ANY {
        multiply_any(matrix, x, out);
    } else {
        multiply_fixed::<D>(matrix, x, out);
    }
}

#[inline]
fn multiply_fixed<const D: usize>(matrix: &[f64], x: &[f64], out: &mut [f64]) {
    let (matrix, x, out) = (&matrix[..packed_length(D)], &x[..D], &mut out[..D]);
    let mut sums = [NOTHING; D];
    let mut at = 0;
    for i in 0..D {
        for j in 0..i {
            sums[i] += matrix[at] * x[j];
            sums[j] += matrix[at] * x[i];
            at += 1;
        }
        sums[i] += matrix[at] * x[i];
        at += 1;
    }
    out.copy_from_slice(&sums);
}

fn multiply_any(matrix: &[f64], x: &[f64], out: &mut [f64]) {
    out.fill(0.0);
    add_multiply(matrix, x, out);
}

/// `out += A x`.
pub(crate) fn add_multiply(matrix: &[f64], x: &[f64], out: &mut [f64]) {
    let mut start = 0;
    for (i, &xi) in x.iter().enumerate() {
        let (row, diagonal) = (&matrix[start..start + i], matrix[start + i]);
        out[i] += dot_and_add_scaled(row, &x[..i], xi, &mut out[..i]) + diagonal * xi;
        start += i + 1;
    }
}

/// `y += scale · row` and, in the same pass over `row`, `Σ rowⱼxⱼ`.
#[inline]
fn dot_and_add_scaled(row: &[f64], x: &[f64], scale: f64, y: &mut [f64]) -> f64 {
    let mut lanes = [NOTHING; 4];
    let (row_head, row_tail) = row.as_chunks::<4>();
    let (x_head, x_tail) = x.as_chunks::<4>();
    let (y_head, y_tail) = y.as_chunks_mut::<4>();
    for ((r, x), y) in row_head.iter().zip(x_head).zip(y_head) {
        for lane in 0..4 {
            lanes[lane] += r[lane] * x[lane];
            y[lane] += scale * r[lane];
        }
    }
    let mut tail = NOTHING;
    for ((r, x), y) in row_tail.iter().zip(x_tail).zip(y_tail) {
        tail += r * x;
        *y += scale * r;
    }
    (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]) + tail
}

/// `xᵀ A x`: half the work of a product.
#[inline]
pub(crate) fn quadratic(matrix: &[f64], x: &[f64]) -> f64 {
    by_dimension!(x.len(), quadratic_sized(matrix, x), quadratic_sized::<ANY>(matrix, x))
}

/// The same for a dimension that the caller knows.
#[inline]
pub(crate) fn quadratic_sized<const D: usize>(matrix: &[f64], x: &[f64]) -> f64 {
    if D == ANY { quadratic_any(matrix, x) } else { quadratic_fixed::<D>(matrix, x) }
}

#[inline]
fn quadratic_fixed<const D: usize>(matrix: &[f64], x: &[f64]) -> f64 {
    let (matrix, x) = (&matrix[..packed_length(D)], &x[..D]);
    let (mut total, mut at) = (NOTHING, 0);
    for i in 0..D {
        let mut below = NOTHING;
        for entry in &x[..i] {
            below += matrix[at] * entry;
            at += 1;
        }
        total += x[i] * (2.0 * below + matrix[at] * x[i]);
        at += 1;
    }
    total
}

fn quadratic_any(matrix: &[f64], x: &[f64]) -> f64 {
    let mut start = 0;
    let mut total = 0.0;
    for (i, &xi) in x.iter().enumerate() {
        total += xi * (2.0 * dot(&matrix[start..start + i], &x[..i]) + matrix[start + i] * xi);
        start += i + 1;
    }
    total
}

/// `xᵀ A y`.
pub(crate) fn bilinear(matrix: &[f64], x: &[f64], y: &[f64]) -> f64 {
    let mut start = 0;
    let mut total = 0.0;
    for (i, (&xi, &yi)) in x.iter().zip(y).enumerate() {
        let row = &matrix[start..start + i];
        total += xi * dot(row, &y[..i]) + yi * dot(row, &x[..i]) + matrix[start + i] * xi * yi;
        start += i + 1;
    }
    total
}

/// `A += scale · x xᵀ`, for a dimension that the caller knows.
#[inline]
pub(crate) fn add_outer_sized<const D: usize>(matrix: &mut [f64], scale: f64, x: &[f64]) {
    if D == ANY {
        add_outer_any(matrix, scale, x);
    } else {
        add_outer_fixed::<D>(matrix, scale, x);
    }
}

#[inline]
fn add_outer_fixed<const D: usize>(matrix: &mut [f64], scale: f64, x: &[f64]) {
    let (matrix, x) = (&mut matrix[..packed_length(D)], &x[..D]);
    let mut at = 0;
    for i in 0..D {
        let scaled = scale * x[i];
        for entry in &x[..=i] {
            matrix[at] += scaled * entry;
            at += 1;
        }
    }
}

fn add_outer_any(matrix: &mut [f64], scale: f64, x: &[f64]) {
    let mut start = 0;
    for (i, &xi) in x.iter().enumerate() {
        add_scaled(&mut matrix[start..=start + i], scale * xi, &x[..=i]);
        start += i + 1;
    }
}

/// `A += Σ x xᵀ` over four vectors, each entry in their order: the bits of four single additions, with one pass over the matrix.
#[inline]
pub(crate) fn add_four_outers_sized<const D: usize>(matrix: &mut [f64], vectors: [&[f64]; 4]) {
    let dimension = known::<D>(vectors[0].len());
    let [a, b, c, d] = vectors.map(|vector| &vector[..dimension]);
    let mut start = 0;
    for i in 0..dimension {
        let row = &mut matrix[start..=start + i];
        let before = a[..=i].iter().zip(&b[..=i]).zip(&c[..=i]).zip(&d[..=i]);
        for (entry, (((aj, bj), cj), dj)) in row.iter_mut().zip(before) {
            *entry = (((*entry + a[i] * aj) + b[i] * bj) + c[i] * cj) + d[i] * dj;
        }
        start += i + 1;
    }
}

/// Sum of the diagonal entries.
pub(crate) fn trace(matrix: &[f64], dimension: usize) -> f64 {
    (0..dimension).map(|i| matrix[packed_length(i + 1) - 1]).sum()
}

/// Adds `value` to every diagonal entry.
pub(crate) fn add_diagonal(matrix: &mut [f64], dimension: usize, value: f64) {
    let mut at = 0;
    for i in 0..dimension {
        matrix[at] += value;
        at += i + 2;
    }
}

/// Replaces a positive definite matrix by its Cholesky factor `L`, `A = LLᵀ`. Every pivot of a matrix `A ⪰ floor·I` is at
/// least `floor`; one that rounding has pushed below is set to it, so that the factor always exists. O(d³/6).
pub(crate) fn factor(matrix: &mut [f64], dimension: usize, floor: f64) {
    by_dimension!(dimension, factor_sized(matrix, dimension, floor), factor_sized::<ANY>(matrix, dimension, floor));
}

fn factor_sized<const D: usize>(matrix: &mut [f64], dimension: usize, floor: f64) {
    let dimension = known::<D>(dimension);
    let matrix = &mut matrix[..packed_length(dimension)];
    for i in 0..dimension {
        let start_i = packed_length(i);
        let (above, row_i) = matrix.split_at_mut(start_i);
        for j in 0..i {
            let start_j = packed_length(j);
            let row_j = &above[start_j..=start_j + j];
            row_i[j] = (row_i[j] - dot(&row_i[..j], &row_j[..j])) / row_j[j];
        }
        let pivot = row_i[i] - dot(&row_i[..i], &row_i[..i]);
        row_i[i] = pivot.max(floor).sqrt();
    }
}

/// The smallest pivot of a Cholesky factor: at least the smallest eigenvalue of the matrix.
pub(crate) fn smallest_pivot(factor: &[f64], dimension: usize) -> f64 {
    (0..dimension).fold(f64::INFINITY, |least, i| least.min(factor[packed_length(i + 1) - 1].powi(2)))
}

/// `xᵀA⁻¹x` from the Cholesky factor of `A`: half a solution, so that it is never negative. `scratch` has the length of `x`. O(d²/2).
pub(crate) fn inverse_quadratic(factor: &[f64], x: &[f64], scratch: &mut [f64]) -> f64 {
    let scratch = &mut scratch[..x.len()];
    for (i, &xi) in x.iter().enumerate() {
        let start = packed_length(i);
        scratch[i] = (xi - dot(&factor[start..start + i], &scratch[..i])) / factor[start + i];
    }
    dot(scratch, scratch)
}

/// `ln det A` from the Cholesky factor of `A`.
pub(crate) fn log_det(factor: &[f64], dimension: usize) -> f64 {
    let mut at = 0;
    let mut total = 0.0;
    for i in 0..dimension {
        total += libm::log(factor[at]);
        at += i + 2;
    }
    2.0 * total
}

/// Solves `A x = b` in place from the Cholesky factor of `A`. O(d²).
pub(crate) fn solve(factor: &[f64], x: &mut [f64]) {
    by_dimension!(x.len(), solve_sized(factor, x), solve_sized::<ANY>(factor, x));
}

fn solve_sized<const D: usize>(factor: &[f64], x: &mut [f64]) {
    let dimension = known::<D>(x.len());
    let (factor, x) = (&factor[..packed_length(dimension)], &mut x[..dimension]);
    for i in 0..x.len() {
        let start = packed_length(i);
        x[i] = (x[i] - dot(&factor[start..start + i], &x[..i])) / factor[start + i];
    }
    for i in (0..x.len()).rev() {
        let start = packed_length(i);
        x[i] /= factor[start + i];
        let xi = x[i];
        add_scaled(&mut x[..i], -xi, &factor[start..start + i]);
    }
}

/// Replaces the Cholesky factor of `A` by `A⁻¹`, in place. `row` is scratch of length `dimension`. O(d³/3).
pub(crate) fn invert(factor: &mut [f64], dimension: usize, row: &mut [f64]) {
    by_dimension!(dimension, invert_sized(factor, dimension, row), invert_sized::<ANY>(factor, dimension, row));
}

fn invert_sized<const D: usize>(factor: &mut [f64], dimension: usize, row: &mut [f64]) {
    let dimension = known::<D>(dimension);
    let (factor, row) = (&mut factor[..packed_length(dimension)], &mut row[..dimension]);
    // L⁻¹, row by row: row i is -(1/Lᵢᵢ) Σₖ Lᵢₖ · (row k of L⁻¹), with 1/Lᵢᵢ on the diagonal.
    for i in 0..dimension {
        let start = packed_length(i);
        let (above, row_i) = factor.split_at_mut(start);
        row[..=i].copy_from_slice(&row_i[..=i]);
        let reciprocal = 1.0 / row[i];
        row_i[..i].fill(0.0);
        for (k, &entry) in row[..i].iter().enumerate() {
            let start_k = packed_length(k);
            add_scaled(&mut row_i[..=k], -entry * reciprocal, &above[start_k..=start_k + k]);
        }
        row_i[i] = reciprocal;
    }
    // A⁻¹ = Σᵢ (row i of L⁻¹)ᵀ(row i of L⁻¹); row i is used up before the sums that need its place begin.
    for i in 0..dimension {
        let start = packed_length(i);
        row[..=i].copy_from_slice(&factor[start..=start + i]);
        factor[start..=start + i].fill(0.0);
        for a in 0..=i {
            let start_a = packed_length(a);
            add_scaled(&mut factor[start_a..=start_a + a], row[a], &row[..=a]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A positive definite matrix, packed and full, from a fixed recurrence.
    fn example(dimension: usize) -> (Vec<f64>, Vec<Vec<f64>>) {
        let mut packed = vec![0.0; packed_length(dimension)];
        let mut state = 0.3_f64;
        for _ in 0..2 * dimension {
            let x: Vec<f64> = (0..dimension)
                .map(|_| {
                    state = (state * 997.0 + 0.123).fract();
                    state - 0.5
                })
                .collect();
            by_dimension!(dimension, add_outer_sized(&mut packed, 1.0, &x), add_outer_any(&mut packed, 1.0, &x));
        }
        add_diagonal(&mut packed, dimension, 0.25);
        let full = (0..dimension)
            .map(|i| (0..dimension).map(|j| packed[packed_length(i.max(j)) + i.min(j)]).collect())
            .collect();
        (packed, full)
    }

    #[test]
    fn packed_operations_agree_with_the_square_matrix() {
        for dimension in [1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 33] {
            let (packed, full) = example(dimension);
            let x: Vec<f64> = (0..dimension).map(|i| (i as f64 * 0.7).sin() + 0.1).collect();
            let expected: Vec<f64> = full.iter().map(|row| row.iter().zip(&x).map(|(a, b)| a * b).sum()).collect();
            let mut product = vec![f64::NAN; dimension];
            multiply(&packed, &x, &mut product);
            for (found, expected) in product.iter().zip(&expected) {
                assert!((found - expected).abs() < 1e-12);
            }
            let form: f64 = expected.iter().zip(&x).map(|(a, b)| a * b).sum();
            assert!((quadratic(&packed, &x) - form).abs() < 1e-12 * form.abs().max(1.0));

            let mut factored = packed.clone();
            factor(&mut factored, dimension, 0.0);
            let mut solution = product.clone();
            solve(&factored, &mut solution);
            for (found, expected) in solution.iter().zip(&x) {
                assert!((found - expected).abs() < 1e-11);
            }
            let mut inverse = factored.clone();
            invert(&mut inverse, dimension, &mut vec![0.0; dimension]);
            let mut back = vec![0.0; dimension];
            multiply(&inverse, &product, &mut back);
            for (found, expected) in back.iter().zip(&x) {
                assert!((found - expected).abs() < 1e-11);
            }
        }
    }

    #[test]
    fn log_determinant_of_a_diagonal_matrix() {
        let mut matrix = vec![0.0; packed_length(3)];
        add_diagonal(&mut matrix, 3, 2.0);
        factor(&mut matrix, 3, 0.0);
        assert!((log_det(&matrix, 3) - 3.0 * 2.0_f64.ln()).abs() < 1e-15);
    }
}
