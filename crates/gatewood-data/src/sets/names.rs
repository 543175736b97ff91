//! The names of the columns of sets whose files do not give them.

/// Adult.
pub(super) const ADULT: &str = "age workclass fnlwgt education education-num marital-status occupation relationship race sex \
    capital-gain capital-loss hours-per-week native-country income";

/// Mushroom: the class first.
pub(super) const MUSHROOM: &str = "class cap-shape cap-surface cap-color bruises odor gill-attachment gill-spacing gill-size \
    gill-color stalk-shape stalk-root stalk-surface-above-ring stalk-surface-below-ring stalk-color-above-ring \
    stalk-color-below-ring veil-type veil-color ring-number ring-type spore-print-color population habitat";

/// NSL-KDD: the name of the attack and a difficulty come last.
pub(super) const NSL_KDD: &str = "duration protocol_type service flag src_bytes dst_bytes land wrong_fragment urgent hot \
    num_failed_logins logged_in num_compromised root_shell su_attempted num_root num_file_creations num_shells \
    num_access_files num_outbound_cmds is_host_login is_guest_login count srv_count serror_rate srv_serror_rate rerror_rate \
    srv_rerror_rate same_srv_rate diff_srv_rate srv_diff_host_rate dst_host_count dst_host_srv_count \
    dst_host_same_srv_rate dst_host_diff_srv_rate dst_host_same_src_port_rate dst_host_srv_diff_host_rate \
    dst_host_serror_rate dst_host_srv_serror_rate dst_host_rerror_rate dst_host_srv_rerror_rate attack difficulty";

/// Spambase.
pub(super) fn spambase() -> Vec<String> {
    let words = "make address all 3d our over remove internet order mail receive will people report addresses free business \
        email you credit your font 000 money hp hpl george 650 lab labs telnet 857 data 415 85 technology 1999 parts pm \
        direct cs meeting original project re edu table conference";
    let words = words.split_whitespace().map(|word| format!("word_freq_{word}"));
    let signs = [";", "(", "[", "!", "$", "#"].into_iter().map(|sign| format!("char_freq_{sign}"));
    let runs = ["average", "longest", "total"].into_iter().map(|kind| format!("capital_run_length_{kind}"));
    words.chain(signs).chain(runs).chain(["spam".to_owned()]).collect()
}

/// Covertype.
pub(super) fn covertype() -> Vec<String> {
    let plain = "Elevation Aspect Slope Horizontal_Distance_To_Hydrology Vertical_Distance_To_Hydrology \
        Horizontal_Distance_To_Roadways Hillshade_9am Hillshade_Noon Hillshade_3pm Horizontal_Distance_To_Fire_Points";
    let areas = (1..=4).map(|area| format!("Wilderness_Area{area}"));
    let soils = (1..=40).map(|soil| format!("Soil_Type{soil}"));
    plain
        .split_whitespace()
        .map(str::to_owned)
        .chain(areas)
        .chain(soils)
        .chain(["Cover_Type".to_owned()])
        .collect()
}
